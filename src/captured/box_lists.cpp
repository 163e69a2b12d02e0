#include "captured/box_lists.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace slabmark {

namespace {

constexpr std::uint64_t most_rank = 1024;  // of NetCDF; HDF5 has 32
constexpr std::uint64_t most_boxes = std::uint64_t{1} << 32;

std::vector<std::int64_t> all_columns(ByteReader& reader, const BoxArray& boxes) {
  std::vector<std::int64_t> numbers(boxes.rank * boxes.count);
  for (std::size_t d = 0; d < boxes.rank; ++d) {
    reader.column(boxes.count, [&](std::uint64_t i, std::int64_t value) {
      numbers[i * boxes.rank + d] = value;
    });
  }
  return numbers;
}

}  // namespace

std::uint64_t BoxArray::elements() const {
  std::uint64_t all = 0;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t of_box = 1;
    for (std::size_t d = 0; d < rank; ++d) {
      of_box *= static_cast<std::uint64_t>(counts[i * rank + d]);
      if (!blocks.empty()) of_box *= static_cast<std::uint64_t>(blocks[i * rank + d]);
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
  boxes.count = reader.varint_up_to(most_boxes, "number of boxes");
  boxes.is_map = (flags & capture::list_is_map) != 0;
  if (flags & capture::list_has_extent) {
    for (std::size_t d = 0; d < boxes.rank; ++d) {
      boxes.extent.push_back(static_cast<std::int64_t>(reader.varint()));
    }
  }
  if (flags & capture::list_has_origin) {
    for (std::size_t d = 0; d < boxes.rank; ++d) boxes.origin.push_back(reader.signed_varint());
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
  return boxes;
}

}  // namespace slabmark
