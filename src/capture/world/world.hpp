#pragma once

namespace slabmark::capture {

/// Tells the recorder which rank of MPI_COMM_WORLD this process is. MPI must be running. Wrappers
/// of MPI_Init and MPI_Init_thread, which come with this room, do so; programs whose MPI_Init is
/// not seen (in Fortran, say) are known by their first file.
void know_rank();

/// Lets the linker take the wrappers.
void wrap_init();

}  // namespace slabmark::capture
