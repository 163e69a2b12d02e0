#include "capture/replay/call_memory.hpp"

#include <algorithm>
#include <cstring>

#include "core/geometry/strided_walk.hpp"

namespace slabmark {

CallMemory::CallMemory(const BoxArray& boxes, std::size_t element_bytes)
    : boxes_(boxes), bytes_(element_bytes) {
  std::int64_t end = 0;
  for_each([&](std::int64_t offset, std::uint64_t) {
    first_ = std::min(first_, offset);
    end = std::max(end, offset + 1);
  });
  memory_.resize(static_cast<std::size_t>(end - first_) * bytes_);
}

void CallMemory::fill(const std::byte* dense) {
  for_each([&](std::int64_t offset, std::uint64_t i) {
    std::memcpy(at(offset), dense + i * bytes_, bytes_);
  });
}

void CallMemory::empty(std::byte* dense) {
  for_each([&](std::int64_t offset, std::uint64_t i) {
    std::memcpy(dense + i * bytes_, at(offset), bytes_);
  });
}

template <class Visit>
void CallMemory::for_each(const Visit& visit) const {
  std::vector<std::int64_t> weights(boxes_.rank, 1);  // elements from one index to the next
  for (std::size_t d = boxes_.rank; d-- > 1 && !boxes_.extent.empty();) {
    weights[d - 1] = weights[d] * boxes_.extent[d];
  }
  std::uint64_t number = 0;
  StridedWalk walk;
  for (std::size_t i = 0; i < boxes_.count; ++i) {
    const std::size_t first = i * boxes_.rank;
    std::int64_t begin = 0;
    for (std::size_t d = 0; d < boxes_.rank && !boxes_.is_map; ++d) {
      begin += (boxes_.first(d) + boxes_.starts[first + d]) * weights[d];
    }
    walk.restart(begin);
    for (std::size_t d = 0; d < boxes_.rank; ++d) {
      const std::size_t k = first + d;
      const auto count = static_cast<std::uint64_t>(boxes_.counts[k]);
      walk.add(count, boxes_.is_map ? boxes_.starts[k] : boxes_.stride(k) * weights[d]);
      walk.add(static_cast<std::uint64_t>(boxes_.block(k)), weights[d]);  // 1 of a map
    }
    walk.for_each([&](std::int64_t offset) { visit(offset, number++); });
  }
}

}  // namespace slabmark
