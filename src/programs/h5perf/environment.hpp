#pragma once

#include <string>
#include <utility>
#include <vector>

namespace slabmark::h5perf {

/// The settings in the variables of the environment.
struct Environment {
  std::string prefix;           ///< HDF5_PARAPREFIX as it is set; empty: it is not
  std::string directory;        ///< where the files go: the prefix or the user's folder in it
  bool make_directory = false;  ///< the user's folder is still missing
  bool keep = false;            ///< HDF5_NOCLEANUP
  std::vector<std::pair<std::string, std::string>> hints;  ///< HDF5_MPI_INFO
};

/// Reads HDF5_NOCLEANUP, HDF5_MPI_INFO, HDF5_PARAPREFIX and, for the folder in the prefix, USER or
/// LOGIN. Throws InputError for a hint that is blank or no key=value, and for a prefix that is no
/// directory. Makes nothing.
Environment read_environment();

}  // namespace slabmark::h5perf
