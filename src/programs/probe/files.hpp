#pragma once

#include <vector>

#include "bench/measure/record.hpp"
#include "core/parallel/comm.hpp"
#include "programs/probe/options.hpp"

namespace slabmark::probe {

/// Collective. Records of `create`, `stat`, `open-read` and `remove` of many small files. Ranks
/// look at and remove files that a rank of another node made, where there are several nodes.
std::vector<CellRecord> probe_files(const Comm& comm, const Options& options);

}  // namespace slabmark::probe
