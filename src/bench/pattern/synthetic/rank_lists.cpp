#include "bench/pattern/synthetic/rank_lists.hpp"

namespace slabmark {

RankLists::RankLists(std::span<const std::uint32_t> owner, std::uint64_t ranks)
    : first_(ranks + 1, 0), items_(owner.size()) {
  for (const std::uint32_t rank : owner) ++first_[rank + 1];
  for (std::uint64_t rank = 0; rank < ranks; ++rank) first_[rank + 1] += first_[rank];
  std::vector<std::uint64_t> next(first_.begin(), first_.end() - 1);
  for (std::uint32_t item = 0; item < owner.size(); ++item) items_[next[owner[item]]++] = item;
}

}  // namespace slabmark
