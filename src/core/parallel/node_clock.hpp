#pragma once

#include <cstdint>
#include <functional>

#include "core/parallel/comm.hpp"

namespace slabmark {

/// Nanoseconds of a clock that never goes back, and that all processes of a node share.
std::uint64_t node_time();

/// Collective. By how much the clock of this process's node is ahead of that of rank 0's node:
/// 0 on that node itself, elsewhere exact to half of the fastest of some round trips of a message.
std::int64_t clock_ahead_of_root(const Comm& comm);

/// The same, where each rank has a clock of its own.
std::int64_t clock_ahead_of_root(const Comm& comm, const std::function<std::uint64_t()>& clock);

}  // namespace slabmark
