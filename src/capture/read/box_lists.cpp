#include "capture/read/box_lists.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/error.hpp"

namespace slabmark {

namespace {

constexpr std::uint64_t most_rank = 1024;                      // of NetCDF; HDF5 has 32
constexpr std::uint64_t most_listed = std::uint64_t{1} << 30;  // of a list's starts

std::vector<std::int64_t> all_columns(ByteReader& reader, const BoxArray& boxes) {
  std::vector<std::int64_t> numbers(boxes.rank * boxes.count);
  for (std::size_t d = 0; d < boxes.rank; ++d) {
    reader.column(boxes.count, [&](std::uint64_t i, std::int64_t value) {
      numbers[i * boxes.rank + d] = value;
    });
  }
  return numbers;
}

/// Refuses boxes so far away, or so large, that sums of such numbers are none.
void require_near(const ByteReader& reader, const BoxArray& boxes) {
  for (std::size_t k = 0; k < boxes.starts.size(); ++k) {
    const std::int64_t block = boxes.block(k);
    const std::int64_t stride = boxes.is_map ? boxes.starts[k] : boxes.stride(k);
    std::int64_t elements = 0, length = 0;
    const bool is_number =
        !__builtin_mul_overflow(boxes.counts[k], block, &elements) &&
        !__builtin_mul_overflow(std::max<std::int64_t>(boxes.counts[k] - 1, 0), stride, &length);
    if (!is_number || !is_near(boxes.starts[k]) || !is_near(elements) || !is_near(length) ||
        !is_near(block)) {
      reader.refuse("a box reaches further than any array");
    }
  }
}

}  // namespace

std::uint64_t BoxArray::elements() const {
  std::uint64_t all = 0;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t of_box = 1;
    for (std::size_t k = i * rank; k < (i + 1) * rank; ++k) {
      of_box *= static_cast<std::uint64_t>(counts[k]) * static_cast<std::uint64_t>(block(k));
    }
    all += of_box;
  }
  return all;
}

BoxLists::BoxLists(std::span<const std::uint8_t> bytes, std::string place)
    : bytes_(bytes), place_(std::move(place)) {
  ByteReader reader(bytes_, place_);
  while (!reader.at_end()) {
    begins_.push_back(reader.position());
    reader.part(reader.varint());
  }
}

BoxArray BoxLists::get(std::uint64_t i) const {
  ByteReader whole(bytes_, place_);
  if (i >= begins_.size()) {
    throw InputError(
        fmt::format("{} are {}, but an event names number {}.", place_, begins_.size(), i));
  }
  whole.go_to(begins_[i]);
  ByteReader reader = whole.part(whole.varint());
  const std::uint64_t flags = reader.varint_up_to(15, "flags of a list");
  BoxArray boxes;
  boxes.rank = reader.varint_up_to(most_rank, "rank of a list");
  boxes.count =
      reader.varint_up_to(most_listed / std::max<std::size_t>(boxes.rank, 1), "number of boxes");
  boxes.is_map = (flags & capture::list_is_map) != 0;
  if (flags & capture::list_has_extent) {
    for (std::size_t d = 0; d < boxes.rank; ++d) {
      boxes.extent.push_back(static_cast<std::int64_t>(reader.varint()));
    }
  }
  if (flags & capture::list_has_origin) {
    for (std::size_t d = 0; d < boxes.rank; ++d) {
      boxes.origin.push_back(reader.signed_varint());
      if (!is_near(boxes.origin.back())) reader.refuse("a list begins further than any array");
    }
  }
  boxes.starts = all_columns(reader, boxes);
  for (std::size_t k = boxes.rank; k < boxes.starts.size(); ++k) {
    boxes.starts[k] = capture::sum(boxes.starts[k], boxes.starts[k - boxes.rank]);
  }
  boxes.counts = all_columns(reader, boxes);
  for (const std::int64_t count : boxes.counts) {
    if (count < 0) reader.refuse("a box has a negative count");
  }
  if (flags & capture::strided_list) {
    boxes.strides = all_columns(reader, boxes);
    boxes.blocks = all_columns(reader, boxes);
    for (std::size_t k = 0; k < boxes.strides.size(); ++k) {
      if (boxes.strides[k] < 1 || boxes.blocks[k] < 0)
        reader.refuse("a stride or block is negative");
    }
  }
  require_near(reader, boxes);
  return boxes;
}

}  // namespace slabmark
