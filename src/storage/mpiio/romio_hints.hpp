#pragma once

#include <map>
#include <string>

#include "storage/mpiio/info.hpp"

namespace slabmark::mpiio {

/// True if ROMIO hears the hints that a file is opened with. That of Open MPI 5 (5.0.7 and 5.0.11)
/// hears those of MPI_File_set_view alone (tests/mpi_faults/unheard_hints.c).
bool romio_hears_hints_of_opening();

/// Of `hints` those for a file that another library opens without a view: not ROMIO's where it does
/// not hear them, since they would still hide what the user's file of hints says of the same.
Hints without_unheard(Hints hints);

/// What ROMIO goes by where a library opens a file with the hints `given`: these, where it hears
/// them, and those of the file that the variable ROMIO_HINTS names (of /etc/romio-hints, if that
/// cannot be opened), as far as the same is not given. Not collective; ROMIO reads that file on one
/// rank.
std::map<std::string, std::string> hints_effective_in_romio(const Hints& given);

}  // namespace slabmark::mpiio
