#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>

#include "collective/exchange/file_domain.hpp"
#include "collective/exchange/flush_plan.hpp"

namespace slabmark::collective {

/// Where a file has data that aggregators may still hold in memory, and which one does. All ranks
/// of the file know the same, so each can tell whether all must wait.
class PendingRanges {
 public:
  bool any() const { return !ranges_.empty(); }
  /// Byte of the file at which the last of them ends.
  std::uint64_t end() const { return ranges_.empty() ? 0 : ranges_.rbegin()->second.end; }

  /// True if some of a flush lies where another aggregator has data pending: the two would write in
  /// any order. One aggregator keeps the order of its own.
  bool meet_another(const FileDomain& domain, const FlushPlan& plan,
                    std::span<const int> aggregators) const;
  void add(const FileDomain& domain, const FlushPlan& plan, std::span<const int> aggregators);
  /// There are so many that it is time to wait, lest the memory for them grow.
  bool are_many() const { return ranges_.size() > 16384; }

  void clear() { ranges_.clear(); }

 private:
  struct Range {
    std::uint64_t end;
    int rank;
  };
  void add(std::uint64_t begin, Range range);

  std::map<std::uint64_t, Range> ranges_;  ///< by their begin; no two overlap
};

}  // namespace slabmark::collective
