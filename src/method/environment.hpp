#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "parallel/comm.hpp"

namespace slabmark {

/// Which libraries carry out the methods.
struct LibraryEnvironment {
  std::string
      mpi_io;        ///< "OMPIO", "ROMIO", or "unknown (reason)" for files in the output directory
  std::string hdf5;  ///< version at run time
  std::string pnetcdf;  ///< version at run time; empty: not in this build

  /// Members "mpi_io" and "libraries" for the manifest.
  nlohmann::json to_json() const;

  /// One sentence with the remedy if this MPI-IO is known to be slow for irregular requests.
  std::string warning() const;
};

/// Collective. Throws an agreed InputError if HDF5 does not start with what its environment asks
/// for: it says so only once, to the first call, and would crash later.
void require_hdf5(const Comm& comm);

/// Collective; the same on all ranks. Makes and removes one scratch file in `directory`, if it may.
LibraryEnvironment library_environment(const Comm& comm, const std::string& directory);

}  // namespace slabmark
