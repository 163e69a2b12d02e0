#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "measure/record.hpp"
#include "parallel/comm.hpp"
#include "program/slabmark-probe/options.hpp"

namespace slabmark::probe {

struct Node {
  std::string name;  ///< on root only
  std::vector<int> ranks;
};

/// Collective. The nodes of a run in the order of their lowest ranks: hosts, or so many ranks in a
/// row each.
std::vector<Node> find_nodes(const Comm& comm, std::uint64_t ranks_as_node);

/// Rank whose files this rank looks at: on another node where there are several, and no two ranks
/// look at the same rank's.
int rank_to_look_at(const Comm& comm, const std::vector<Node>& nodes);

/// Collective. Records of `messages` between nodes and, unless --file-bytes is 0, of `file-a-node`.
/// The member `of_nodes` of `effective` has, for each measured trial, the seconds of each node, see
/// docs/probe.md.
std::vector<CellRecord> probe_nodes(const Comm& comm, const Options& options);

}  // namespace slabmark::probe
