#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "exchange/flush_plan.hpp"
#include "method/raw/file_order.hpp"
#include "method/shared/selection_cache.hpp"
#include "parallel/comm.hpp"
#include "pattern/pattern.hpp"

namespace slabmark {

/// A transfer that has a place in the file.
struct PlacedArray {
  Transfer transfer;
  ArrayPlace place;
  std::byte* buffer = nullptr;
};

/// The plan of the last flush with what it was made for. Flushes that look alike on all ranks share
/// it, also those of other files: the records of a time series lie elsewhere in the file but alike.
class RearrangedPlan {
 public:
  /// Which arrays go through which aggregators.
  struct Layout {
    std::span<const PlacedArray> arrays;
    const Region& region;
    std::span<const int> aggregators;
    std::uint64_t alignment;  ///< of the aggregators' ranges, in bytes
    bool refuse_overlaps;
  };

  /// Whether this rank, for one, could use the plan.
  bool fits(const Layout& layout) const { return made_ && key_of(layout) == key_; }

  /// Collective; see FlushPlan.
  void make(const Comm& comm, const Pattern& pattern, const Layout& layout);

  const FlushPlan& plan() const { return plan_; }

 private:
  struct Key {
    std::vector<std::pair<SelectionPtr, SelectionPtr>> selections;
    std::vector<std::size_t> arrays;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> shapes;  ///< begin and element size
    std::vector<std::uint64_t> cuts;
    bool refuse_overlaps = false;
    bool operator==(const Key&) const = default;
  };

  static Key key_of(const Layout& layout);
  static std::vector<std::size_t> first_alike(const Key& key);

  bool made_ = false;
  Key key_;
  SelectionCache<FilePieces> pieces_;
  FlushPlan plan_;
};

}  // namespace slabmark
