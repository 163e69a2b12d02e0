#pragma once

#include <map>
#include <string>

#include "core/json/json.hpp"
#include "core/parallel/comm.hpp"

namespace slabmark {

/// The libraries that carry out the methods.
struct LibraryEnvironment {
  /// "OMPIO", "ROMIO", or "unknown (reason)" for files in the output directory.
  std::string mpi_io;
  bool fails_on_overlaps = false;  ///< see mpiio::fails_on_overlaps()
  /// Version at run time of each library of a format, by its name; empty: not in this build.
  std::map<std::string, std::string> libraries;

  /// Members "mpi_io", "mpi_io_faults" and "libraries", of those in this build, for the manifest.
  Json to_json() const;

  /// With the remedy, if this MPI-IO is known to be slow for irregular requests, or to fail.
  std::string warning() const;
};

/// Collective. Throws an agreed InputError if a library does not start, see FileLibrary.
void require_libraries(const Comm& comm);

/// Collective; the same on all ranks. Makes and removes one scratch file in `directory`, if it may.
LibraryEnvironment library_environment(const Comm& comm, const std::string& directory);

}  // namespace slabmark
