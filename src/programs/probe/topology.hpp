#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/parallel/comm.hpp"

namespace slabmark::probe {

struct Node {
  std::string name;  ///< on root only
  std::vector<int> ranks;
};

/// The nodes of a run in the order of their lowest ranks: hosts, or so many ranks in a row each.
class Topology {
 public:
  /// Collective.
  Topology(const Comm& comm, std::uint64_t ranks_per_node);

  const std::vector<Node>& nodes() const { return nodes_; }
  bool is_one_node() const { return nodes_.size() == 1; }
  std::size_t node_of_this_rank() const { return node_; }
  /// The number of this rank among those of its node.
  std::size_t number_on_node() const { return number_; }

  /// Rank whose files this rank looks at: on another node where there are several, and no two ranks
  /// look at the same rank's.
  int rank_to_look_at() const;

 private:
  int rank_;
  std::vector<Node> nodes_;
  std::size_t node_ = 0, number_ = 0;
};

/// The largest of the `seconds` of all ranks among those of the first `count` of `ranks`.
double slowest(const std::vector<int>& ranks, std::size_t count,
               const std::vector<double>& seconds);

}  // namespace slabmark::probe
