#include "collective/pending_ranges.hpp"

#include <algorithm>
#include <iterator>

namespace slabmark::collective {

namespace {

/// Calls visit(begin, end, rank) for the bytes of the file that each aggregator may write.
template <class Visit>
void for_each_range(const FileDomain& domain, const FlushPlan& plan,
                    std::span<const int> aggregators, const Visit& visit) {
  for (std::size_t a = 0; a < aggregators.size(); ++a) {
    for (const Run& extent : plan.extents(a)) {
      for (const FileDomain::Part& part : domain.parts_in(extent.offset, extent.end())) {
        const ArrayPlace& place = domain.arrays()[part.array].place;
        const std::uint64_t begin = place.offset + part.elements.offset * place.element_bytes;
        visit(begin, begin + part.elements.length * place.element_bytes, aggregators[a]);
      }
    }
  }
}

}  // namespace

bool PendingRanges::meet_another(const FileDomain& domain, const FlushPlan& plan,
                                 std::span<const int> aggregators) const {
  bool found = false;
  if (!any()) return found;
  for_each_range(domain, plan, aggregators, [&](std::uint64_t begin, std::uint64_t end, int rank) {
    auto next = ranges_.upper_bound(begin);
    if (next != ranges_.begin()) --next;
    for (; next != ranges_.end() && next->first < end; ++next) {
      found = found || (next->second.end > begin && next->second.rank != rank);
    }
  });
  return found;
}

void PendingRanges::add(const FileDomain& domain, const FlushPlan& plan,
                        std::span<const int> aggregators) {
  for_each_range(domain, plan, aggregators, [&](std::uint64_t begin, std::uint64_t end, int rank) {
    add(begin, {end, rank});
  });
}

// Ranges of one rank that touch, but for padding, become one: so records of a time series that
// follow each other do not add up. A range overlaps none of another rank: a flush that would waits
// first.
void PendingRanges::add(std::uint64_t begin, Range range) {
  constexpr std::uint64_t padding = 8;
  auto next = ranges_.lower_bound(begin);
  if (next != ranges_.begin()) {
    const auto before = std::prev(next);
    if (before->second.end + padding >= begin && before->second.rank == range.rank) next = before;
  }
  while (next != ranges_.end() && next->first <= range.end + padding &&
         next->second.rank == range.rank) {
    begin = std::min(begin, next->first);
    range.end = std::max(range.end, next->second.end);
    next = ranges_.erase(next);
  }
  ranges_.insert_or_assign(begin, range);
}

}  // namespace slabmark::collective
