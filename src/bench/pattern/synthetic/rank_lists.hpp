#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace slabmark {

/// Items (elements, chunks, cells) grouped by the rank that owns them, ascending within a rank: the
/// inverse of an owner table, 4 bytes an item.
class RankLists {
 public:
  /// `owner[item]` < ranks; fewer than 2^32 items.
  RankLists(std::span<const std::uint32_t> owner, std::uint64_t ranks);

  std::uint64_t ranks() const { return first_.size() - 1; }

  std::span<const std::uint32_t> items(std::uint64_t rank) const {
    return std::span(items_).subspan(first_[rank], first_[rank + 1] - first_[rank]);
  }

 private:
  std::vector<std::uint64_t> first_;  ///< of rank r in items_; one more for the end
  std::vector<std::uint32_t> items_;
};

}  // namespace slabmark
