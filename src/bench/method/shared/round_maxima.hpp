#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "bench/pattern/pattern.hpp"
#include "core/parallel/comm.hpp"

namespace slabmark {

/// For every round some numbers (bytes, hyperslabs, calls), each the largest over the ranks: what
/// all ranks need to know to make the same collective calls. Built with one reduction for all
/// rounds.
class RoundMaxima {
 public:
  using Measure =
      std::function<void(const std::vector<Transfer>& transfers, std::vector<std::uint64_t>& out)>;

  RoundMaxima() = default;

  /// Collective. `measure` appends the numbers of one round, equally many on every rank.
  RoundMaxima(const Comm& comm, const Pattern& pattern, const Measure& measure);

  std::uint64_t at(std::uint64_t round, std::size_t i) const { return maxima_[first_[round] + i]; }

 private:
  std::vector<std::size_t> first_;
  std::vector<std::uint64_t> maxima_;
};

/// Collective. True if a rank has less than another of some number of some round.
bool some_rank_has_less(const Comm& comm, const Pattern& pattern,
                        const RoundMaxima::Measure& measure);

}  // namespace slabmark
