#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "accel/c_library/io_ranks.hpp"
#include "core/parallel/comm.hpp"

namespace slabmark::rearrange {

/// The I/O rank that serves each rank of the program: one of its node. I/O ranks are known by their
/// index.
class ServedRanks {
 public:
  /// Collective over `all`.
  ServedRanks(const Comm& all, const IoRanks& io_ranks, std::uint64_t node_ranks);

  /// True if each rank of the program has an I/O rank on its node; the same on all ranks.
  bool are_all_served() const { return are_all_served_; }
  /// The I/O rank of this rank; on an I/O rank itself.
  std::size_t server() const { return server_; }
  /// Ranks of the I/O rank that serves most.
  std::uint64_t most_served() const { return most_served_; }

  /// The ranks of the program, ascending in all, and the I/O rank of each.
  const std::vector<int>& of_program() const { return of_program_; }
  const std::vector<std::size_t>& servers() const { return servers_; }
  /// The ranks that this rank serves, or that are served as this one is.
  std::vector<int> served() const;

 private:
  std::vector<int> of_program_;
  std::vector<std::size_t> servers_;
  std::size_t server_ = 0;
  std::uint64_t most_served_ = 0;
  bool are_all_served_ = false;
};

}  // namespace slabmark::rearrange
