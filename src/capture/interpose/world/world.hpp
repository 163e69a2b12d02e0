#pragma once

#include <dlfcn.h>

namespace slabmark::capture {

/// The function `name` after ours: that of another interposer, or MPI's own, `of_mpi`.
template <class Function>
Function next(const char* name, Function of_mpi) {
  const auto found = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
  return found == nullptr ? of_mpi : found;
}

/// True if there is an MPI_COMM_WORLD: not in a program that speaks to MPI by sessions alone.
bool has_world();

/// Tells the recorder which rank of MPI_COMM_WORLD this process is. MPI must be running. Wrappers
/// of MPI_Init and MPI_Init_thread, which come with this module, do so; programs whose MPI_Init is
/// not seen (in Fortran, say) are known by their first file.
void know_rank();

/// Lets the linker take the wrappers.
void wrap_init();

}  // namespace slabmark::capture
