#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "parallel/comm.hpp"

namespace slabmark {

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
  bool reaches(int rank) const { return node_of_rank_[rank] == my_node_; }
  bool reaches_all() const { return nodes_ <= 1; }
  std::uint64_t nodes() const { return nodes_; }

  /// Collective over the ranks of the node: what any of them stored before is seen by all after.
  void meet() const;

 private:
  bool allocate_shared(std::uint64_t mine);
  void find_nodes();
  void free_window();

  const Comm& comm_;
  std::unique_ptr<Comm> node_;
  MPI_Win window_ = MPI_WIN_NULL;
  std::unique_ptr<std::byte[]> own_;  ///< where MPI has no shared memory to give
  std::vector<std::byte*> memory_;
  std::vector<int> node_of_rank_;  ///< lowest rank of each rank's node
  int my_node_ = 0;
  std::uint64_t nodes_ = 0;
};

}  // namespace slabmark
