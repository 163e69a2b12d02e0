#pragma once

#include <functional>
#include <string>

#include <hdf5.h>
#include <mpi.h>

#include "storage/hdf5/dataset.hpp"
#include "storage/hdf5/handle.hpp"

namespace slabmark::hdf5 {

/// How a parallel file is created or opened.
struct AccessSettings {
  H5F_libver_t low = H5F_LIBVER_EARLIEST;
  /// What HDF5 2 calls latest is beyond the tools that people have installed.
  H5F_libver_t high = H5F_LIBVER_V110;
  bool collective_metadata = true;
  /// Makes the file go through another connector; null: HDF5's own. Negative where it cannot.
  std::function<herr_t(hid_t list)> connector;
};

/// "2.2.0": the version of the library at run time.
std::string library_version();

/// An open file. Those with a communicator are opened, used for metadata and closed by all its
/// ranks together.
class File {
 public:
  File() = default;
  /// The file must not exist yet.
  static File create(MPI_Comm comm, MPI_Info info, const std::string& path,
                     const AccessSettings& settings);
  static File open(MPI_Comm comm, MPI_Info info, const std::string& path,
                   const AccessSettings& settings);
  /// For this process alone, read-only, without MPI-IO.
  static File open_serial(const std::string& path);

  const std::string& path() const { return path_; }

  /// `name` may have groups before it ("atm/T"), which are created where missing.
  Dataset create_dataset(const std::string& name, ElementType type, const Space& space,
                         const CreationSettings& settings);
  Dataset open_dataset(const std::string& name, ElementType type) const;

  /// The MPI file underneath, still HDF5's.
  MPI_File mpi_file() const;

  void flush();  ///< H5Fflush
  void sync();   ///< H5Fflush, then MPI_File_sync, which H5Fflush may leave out
  void close();

 private:
  File(Handle handle, std::string path) : handle_(std::move(handle)), path_(std::move(path)) {}

  Handle handle_;
  std::string path_;
};

}  // namespace slabmark::hdf5
