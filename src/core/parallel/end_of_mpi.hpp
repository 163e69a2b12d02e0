#pragma once

namespace slabmark {

/// Has `call` made when MPI_Finalize begins, while MPI still works; those asked for last come
/// first. MPI must be initialized. Not made where the library that asks is unloaded before.
void at_end_of_mpi(void (*call)());

/// Objects of a program may live longer than MPI, which ends a process that still calls it. Then
/// there is nothing left to be given back.
bool mpi_has_ended();

}  // namespace slabmark
