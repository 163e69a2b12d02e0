#pragma once

#include <string>

#include "core/parallel/comm.hpp"

namespace slabmark::rearrange {

/// Collective. Throws Failure on all ranks where a file that the program has open under this name
/// is another one by now, or none, since the program has gone to another directory.
void require_same_place(const Comm& ranks, const std::string& path);

}  // namespace slabmark::rearrange
