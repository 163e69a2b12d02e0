#include "bench/measure/order.hpp"

#include <limits>
#include <numeric>
#include <utility>

namespace slabmark {

TrialOrder::TrialOrder(std::size_t cells, std::uint64_t seed)
    : cells_(cells), seed_(seed), random_(seed) {}

std::vector<std::size_t> TrialOrder::next_round() {
  std::vector<std::size_t> order(cells_);
  std::iota(order.begin(), order.end(), std::size_t{0});
  // Fisher and Yates, from the end.
  for (std::size_t left = cells_; left > 1; --left) std::swap(order[left - 1], order[below(left)]);
  return order;
}

// Draws again above the last whole multiple of `limit`, where a remainder would favour small
// numbers.
std::uint64_t TrialOrder::below(std::uint64_t limit) {
  const std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t whole = largest - largest % limit;
  std::uint64_t drawn = random_();
  while (drawn >= whole) drawn = random_();
  return drawn % limit;
}

}  // namespace slabmark
