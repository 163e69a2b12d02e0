#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <mpi.h>

#include "bench/pattern/pattern.hpp"
#include "core/geometry/run.hpp"
#include "core/parallel/comm.hpp"

namespace slabmark {

/// Layout of the file that a method leaves; it decides who can read it back plainly.
enum class FileFormat {
  none,    ///< no file of use (the null method)
  raw,     ///< datasets one after another, see bench/method/raw/raw_layout.hpp
  netcdf,  ///< classic NetCDF, CDF-5
  hdf5,
  hdf5_subfiles,  ///< HDF5 through its subfiling driver: a stub, and the bytes in files beside it
  vtkhdf,         ///< HDF5 files of slices as VTK reads them, one or more a slice, see
                  ///< docs/reference/slices.md
  netcdf4,        ///< HDF5 as netCDF-C lays it out
  zarr,           ///< a store of Zarr v3: a directory
  blob,           ///< each rank's data on its own, see bench/method/raw/blob_file.hpp
};

/// Reads a finished file in the simplest way its format knows, independently of the method that
/// wrote it: verification must not share the mistakes of what it verifies.
class PlainReader {
 public:
  virtual ~PlainReader() = default;

  /// Reads the row-major elements `run` of one dataset (at `time`, if it has a time dimension).
  /// Not collective: ranks may read different amounts.
  virtual void read(std::size_t dataset, std::uint64_t time, Run run, std::byte* out) = 0;
};

/// A library of files, as environments and records speak of it.
struct FileLibrary {
  std::string name;           ///< "HDF5"
  std::string (*version)();   ///< at run time; null: the library is not in this build
  void (*start)() = nullptr;  ///< throws InputError where it does not start; null: it does
};

/// All that is particular to a format.
struct FormatInfo {
  std::string name;    ///< for who reads the list of methods: "netcdf"
  std::string ending;  ///< of its files: ".nc"
  /// Opens a finished file on all ranks (collective).
  std::unique_ptr<PlainReader> (*open)(const Comm& comm, const Pattern& pattern,
                                       const std::string& path);
  /// Files beside, or in, what stands at `path`, which must be there to be asked; null: none.
  std::function<std::vector<std::string>(const std::string& path)> companions = nullptr;
  bool is_directory = false;  ///< what stands at `path`, and all companions are in it
  /// What follows the name of a file in that of another, which may stand beside it while it is
  /// written; empty: nothing does.
  std::string journal = "";
  const FileLibrary* library = nullptr;    ///< through which files go; null: none
  int thread_level = MPI_THREAD_FUNNELED;  ///< that its library wants of MPI
};

const FormatInfo& info_of(FileFormat format);

/// The libraries of all formats, by name.
std::vector<const FileLibrary*> file_libraries();

}  // namespace slabmark
