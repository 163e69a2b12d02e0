#pragma once

namespace slabmark {

/// Has `call` made when MPI_Finalize begins, while MPI still works; those asked for last come
/// first. MPI must be initialized. Not made where the library that asks is unloaded before.
void at_end_of_mpi(void (*call)());

}  // namespace slabmark
