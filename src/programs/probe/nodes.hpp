#pragma once

#include <vector>

#include "bench/measure/record.hpp"
#include "core/parallel/comm.hpp"
#include "programs/probe/options.hpp"

namespace slabmark::probe {

/// Collective. Records of `messages` between nodes and, unless --file-bytes is 0, of `file-a-node`.
/// The member `of_nodes` of `effective` has, for each measured trial, the seconds of each node, see
/// docs/reference/probe.md.
std::vector<CellRecord> probe_nodes(const Comm& comm, const Options& options);

}  // namespace slabmark::probe
