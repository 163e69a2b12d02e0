#pragma once

#include <map>
#include <string>

namespace slabmark::mpiio {

/// The MPI-IO that carries out the calls for files in `directory`: "OMPIO", "ROMIO", or "unknown
/// (...)" with the reason. Open MPI chooses for each file, so the answer holds for the directory.
/// Not collective, opens no file. Ask once and before measuring: Open MPI 4.1 takes 0.2 s to list
/// its variables.
std::string mpi_io_implementation(const std::string& directory);

/// True if that MPI-IO is known to fail where the elements of ranks overlap in a collective call:
/// OMPIO of Open MPI 4.1.1 to 4.1.4 ends the process, loses bytes, or reads wrong ones
/// (docs/known-issues.md). `mpi` is what MPI_Get_library_version says.
bool fails_on_overlaps(const std::string& implementation, const std::string& mpi);

/// The same of the MPI-IO in effect for files in `directory`, which is asked for once.
bool fails_on_overlaps_in(const std::string& directory);

/// Throws InputError where the MPI-IO in effect would crash on `path` because of its length. Not
/// collective.
void require_length_for_mpi_io(const std::string& path);

/// The same, and where MPI-IO would take "ufs:NAME" and the like for NAME. To be asked of every
/// path from outside before a library opens it by MPI-IO.
void require_path_for_mpi_io(const std::string& path);

/// The criteria by which Open MPI chooses, as its MCA variables tell.
struct OpenMpiSelection {
  /// Variable "io": components to take ("romio321,ompio"), or after a '^' those to leave. Empty:
  /// all.
  std::string components;
  /// Variables "io_NAME_priority" by NAME, of the components that there are.
  std::map<std::string, int> priorities;
  /// The directory is on Lustre, where OMPIO stands back.
  bool on_lustre = false;
};

/// Open MPI's rule: of the admitted components the one with the highest priority, where OMPIO on
/// Lustre offers itself with 1 whatever its variable says (file_query() of its component io/ompio,
/// versions 2 to 5).
std::string chosen_implementation(const OpenMpiSelection& selection);

}  // namespace slabmark::mpiio
