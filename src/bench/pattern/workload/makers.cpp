#include "bench/pattern/workload/makers.hpp"

#include <cmath>

namespace slabmark::workload {

Pattern make_boxed_output(const OutputTable& table, const NamedLengths& lengths,
                          const NamedRanges& ranges, std::uint64_t rank, std::uint64_t steps) {
  OutputShare share;
  share.is_first = rank == 0;
  share.records = steps;
  for (const auto& dimensions : table.maps) {
    Extent extent;
    Extent start;
    Extent size;
    for (const std::string& dimension : dimensions) {
      extent.push_back(length_of(table, dimension, lengths));
      const auto range = ranges.find(dimension);
      start.push_back(range == ranges.end() ? 0 : range->second.offset);
      size.push_back(range == ranges.end() ? extent.back() : range->second.length);
    }
    share.maps.push_back(element_count(size) == 0
                             ? select_none(extent)
                             : select_hyperslabs(extent, {make_box(start, size)}));
  }
  return make_output_pattern(table, share);
}

Factors nearest_factors(std::uint64_t product) {
  auto smaller = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(product)));
  while (product % smaller != 0) --smaller;
  return {smaller, product / smaller};
}

}  // namespace slabmark::workload
