#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/parallel/comm.hpp"

namespace slabmark {

/// How far the windows of an aggregator have come, from the first on and never set back. Window w
/// lies in slot w % slots. The counts are in shared memory: who adds to one has stored, or taken,
/// what it speaks of; who sees it sees that, too.
struct WindowCounts {
  static constexpr std::size_t most_slots = 4;
  using Count = std::atomic<std::uint64_t>;
  static_assert(Count::is_always_lock_free, "processes share it");

  /// How often a rank of the node has moved its elements, for each slot. A sum over all windows
  /// would not do: a rank that is ahead would stand for one that is behind.
  std::array<Count, most_slots> moved = {};
  alignas(64) Count accessed = 0;  ///< windows that the aggregator has written or read
  alignas(64) Count writing = 0;   ///< of the node's first aggregator: how many write at present
};

/// Memory of the aggregators in which the ranks of a node put data together. Ranks that share
/// memory with an aggregator store into it directly; to all others it is out of reach.
class SharedStaging {
 public:
  /// Collective: finds the nodes. `node_ranks` > 0 takes so many consecutive ranks for a node,
  /// where MPI says that they share memory; 1 makes every rank reach itself alone.
  SharedStaging(const Comm& comm, std::uint64_t node_ranks);
  ~SharedStaging();
  SharedStaging(const SharedStaging&) = delete;
  SharedStaging& operator=(const SharedStaging&) = delete;

  /// Collective, once: each rank listed in `aggregators` gets `bytes`. Where MPI has no shared
  /// memory to give, every rank is a node of its own from now on.
  void allocate(std::span<const int> aggregators, std::uint64_t bytes);

  /// Memory of aggregator `a` (index into the list), null where this rank does not reach it.
  std::byte* of(std::size_t a) const { return memory_[a]; }
  /// Counts of an aggregator that this rank reaches.
  WindowCounts& counts(std::size_t a) const { return *counts_[a]; }
  bool reaches(int rank) const { return node_of_rank_[rank] == my_node_; }
  bool reaches_all() const { return nodes_ <= 1; }
  std::uint64_t nodes() const { return nodes_; }
  /// The ranks of each node, ascending; nodes in the order of their lowest ranks.
  std::vector<std::vector<int>> ranks_by_node() const;
  std::uint64_t ranks_on_node() const { return static_cast<std::uint64_t>(node_->size()); }

 private:
  bool allocate_shared(std::uint64_t mine);
  std::byte* shared_memory_of(int rank_in_node) const;
  void find_nodes();
  void free_window();

  const Comm& comm_;
  std::unique_ptr<Comm> node_;
  MPI_Win window_ = MPI_WIN_NULL;
  std::unique_ptr<std::byte[]> own_;  ///< where MPI has no shared memory to give
  std::unique_ptr<WindowCounts> own_counts_;
  std::vector<std::byte*> memory_;
  std::vector<WindowCounts*> counts_;
  std::vector<int> node_of_rank_;  ///< lowest rank of each rank's node
  int my_node_ = 0;
  std::uint64_t nodes_ = 0;
};

}  // namespace slabmark
