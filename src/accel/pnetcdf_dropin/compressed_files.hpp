#pragma once

#include <memory>
#include <string>

#include <mpi.h>

#include "accel/pnetcdf_dropin/compressor/compressor.hpp"
#include "accel/pnetcdf_dropin/held_file.hpp"
#include "core/parallel/comm.hpp"

namespace slabmark::dropin {

/// A file that the program has open while files are to be compressed. PnetCDF has a classic file
/// open, under the program's name as long as it can write to it.
struct CompressibleFile {
  std::shared_ptr<Comm> comm;
  std::string name;          ///< as the program calls it
  std::string classic = {};  ///< another file that PnetCDF has open in its place: it only reads it
  Compression compression = {};
  bool compresses = false;  ///< when it is closed
  HeldFile held = {};       ///< on root
};

/// A call of ncmpi_create or ncmpi_open. Its functions are collective over the communicator.
class CompressedOpening {
 public:
  /// Before PnetCDF makes the call. A compressed file that is opened becomes a classic one.
  CompressedOpening(MPI_Comm comm, const char* path, int mode, MPI_Info info, bool creates);
  /// The file that PnetCDF is to open.
  const char* path() const { return path_; }
  /// After it, whatever `error` the call returned.
  void finish(int error, const int* ncid);

 private:
  bool is_asked(MPI_Comm comm, const MPI_Info& info);
  bool can_compress() const;
  void look_at_file(bool writes);
  void expand(bool writes);

  const char* path_;
  bool creates_;
  std::unique_ptr<CompressibleFile> file_;  ///< null: files are not compressed
};

/// Collective, after ncmpi_close or ncmpi_abort of PnetCDF's own returned `error`: compresses the
/// file where that is due. Returns the code for the program.
int close_compressible(int ncid, int error);

/// The name for which the program opened a file, if PnetCDF has another one; null: it has not.
const std::string* name_for_program(int ncid);

}  // namespace slabmark::dropin
