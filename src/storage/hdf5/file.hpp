#pragma once

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
  /// Bytes in which space for metadata is allocated, so that it does not lie between the data; 0:
  /// as HDF5 does (2 KiB).
  std::uint64_t metadata_block = 0;
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
  /// For this process alone, without MPI-IO; replaces what an existing file holds.
  static File create_serial(const std::string& path, const AccessSettings& settings);
  /// For this process alone, read-only, without MPI-IO.
  static File open_serial(const std::string& path);

  const std::string& path() const { return path_; }

  /// `name` may have groups before it ("atm/T"), which are created where missing.
  Dataset create_dataset(const std::string& name, ElementType type, const Space& space,
                         const CreationSettings& settings);
  void put_attribute(const std::string& name, const std::string& text);  ///< of the root group
  Dataset open_dataset(const std::string& name, ElementType type) const;

  /// The MPI file underneath, still HDF5's.
  MPI_File mpi_file() const;

  void sync();  ///< H5Fflush, then MPI_File_sync, which H5Fflush may leave out
  void close();

 private:
  File(Handle handle, std::string path) : handle_(std::move(handle)), path_(std::move(path)) {}

  Handle handle_;
  std::string path_;
};

}  // namespace slabmark::hdf5
