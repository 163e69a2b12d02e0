#pragma once

namespace slabmark {

/// True if the launcher of MPI that started this process calls it rank 0, or there is none.
/// Programs ask this before MPI starts, so that help and errors of the command line are printed
/// once.
bool is_first_rank_of_launch();

}  // namespace slabmark
