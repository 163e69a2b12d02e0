#pragma once

#include <cstdint>

#include "parallel/comm.hpp"

namespace slabmark::h5perf {

/// Collective. Bytes per second that all ranks together copy in memory, `bytes` at a time, from a
/// common start until the last has ended: what comes out of a page cache cannot come faster. The
/// best of a few tries, the same on all ranks.
double memcpy_ceiling(const Comm& comm, std::uint64_t bytes);

}  // namespace slabmark::h5perf
