#pragma once

#include <chrono>
#include <memory>

#include "core/parallel/comm.hpp"

namespace slabmark {

/// Collective. The communicator of the first `count` (> 0) ranks of `comm`; null on the others.
std::unique_ptr<Comm> first_ranks(const Comm& comm, int count);

/// Waits asleep until `request` is done, and looks at every `pause`. False if it is not done after
/// `patience`.
bool wait_asleep(MPI_Request& request, std::chrono::microseconds pause,
                 std::chrono::duration<double> patience);

/// A barrier in which ranks sleep: for those that have nothing to do while others measure. MPI's
/// own barriers spin, and would take the cores from the ranks that work. They look at every `pause`
/// whether all are there: two milliseconds are a thousandth of a core, and seldom enough not to
/// disturb what is measured. Collective.
void sleeping_barrier(const Comm& comm,
                      std::chrono::microseconds pause = std::chrono::milliseconds(2));

}  // namespace slabmark
