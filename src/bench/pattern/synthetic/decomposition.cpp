#include "bench/pattern/synthetic/decomposition.hpp"

namespace slabmark {

RunList model_order_runs(const SyntheticMap& map, std::uint64_t rank) {
  RunList runs;
  map.visit(rank, [&runs](std::span<const std::uint64_t> entries) {
    for (const std::uint64_t entry : entries) {
      if (entry > 0) append(runs, {entry - 1, 1});
    }
  });
  return runs;
}

std::uint64_t owned_count(const SyntheticMap& map, std::uint64_t rank) {
  std::uint64_t owned = 0;
  map.visit(rank, [&owned](std::span<const std::uint64_t> entries) {
    for (const std::uint64_t entry : entries) owned += entry != 0 ? 1 : 0;
  });
  return owned;
}

}  // namespace slabmark
