#pragma once

#include <exception>
#include <functional>
#include <string>

#include "base/error.hpp"
#include "parallel/comm.hpp"

namespace slabmark {

/// All ranks learn whether any of them failed. `failure` is what this rank caught (null: it is
/// well). Returns if all are well; otherwise every rank throws the same InputError or IoError:
/// that of the lowest failing rank, with "rank R on host H: " before a message that is not from
/// rank 0 alone.
///
/// A failing rank whose peers do not come within `patience` seconds (they wait inside a collective
/// call that this rank will never join) prints its message and ends the job with MPI_Abort.
void agree(const Comm& comm, std::exception_ptr failure, double patience = 10.0);

/// Runs `stage` and agrees on its outcome. Collective; `stage` itself need not be.
void agreed(const Comm& comm, const std::function<void()>& stage);

}  // namespace slabmark
