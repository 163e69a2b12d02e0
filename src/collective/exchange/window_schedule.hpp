#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "collective/exchange/flush.hpp"

namespace slabmark {

/// A part of a file domain that an aggregator puts together in memory.
struct Window {
  std::size_t aggregator;
  std::uint64_t begin, end;  ///< positions
};

/// The windows of the aggregators in a flush: in each cycle every aggregator has one, until it has
/// no more.
class WindowSchedule {
 public:
  /// Windows end at whole units of arrays, so they may be one unit longer.
  explicit WindowSchedule(std::uint64_t window_bytes = 0) : bytes_(window_bytes) {}

  std::uint64_t window_bytes() const { return bytes_; }

  /// To be called for each flush.
  void count(const FlushPlan& plan, std::size_t aggregators) {
    before_.assign(aggregators, {0});
    for (std::size_t a = 0; a < aggregators; ++a) {
      for (const Run& extent : plan.extents(a)) {
        before_[a].push_back(before_[a].back() + (extent.length + bytes_ - 1) / bytes_);
      }
    }
  }

  /// As many as the aggregator has windows that has most.
  std::uint64_t cycles() const {
    std::uint64_t most = 0;
    for (const auto& windows : before_) most = std::max(most, windows.back());
    return most;
  }

  /// The window of an aggregator in a cycle; empty where it has none.
  Window window(const ArrayFlush& flush, std::size_t aggregator, std::uint64_t cycle) const {
    const auto& before = before_[aggregator];
    const auto after = std::upper_bound(before.begin(), before.end(), cycle);
    if (after == before.end()) return {aggregator, 0, 0};
    const std::size_t index = static_cast<std::size_t>(after - before.begin()) - 1;
    const Run extent = flush.plan.extents(aggregator)[index];
    const auto bound = [&](std::uint64_t windows) {
      const std::uint64_t at = extent.offset + windows * bytes_;
      return at >= extent.end() ? extent.end() : std::min(extent.end(), flush.domain.next_unit(at));
    };
    return {aggregator, bound(cycle - before[index]), bound(cycle - before[index] + 1)};
  }

 private:
  std::uint64_t bytes_;
  /// By aggregator: how many windows the extents of its plan have up to each, from 0 on.
  std::vector<std::vector<std::uint64_t>> before_;
};

}  // namespace slabmark
