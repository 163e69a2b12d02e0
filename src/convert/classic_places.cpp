#include "convert/classic_places.hpp"

#include <bit>
#include <utility>

#include "collective/exchange/move_elements.hpp"

namespace slabmark::convert {

ClassicPlaces::ClassicPlaces(const FileContents& contents, std::vector<std::uint64_t> begins,
                             std::uint64_t record_bytes)
    : contents_(&contents), begins_(std::move(begins)), record_bytes_(record_bytes) {}

bool ClassicPlaces::has_records(std::size_t variable) const {
  const auto& dimensions = contents_->variables[variable].dimensions;
  return !dimensions.empty() && contents_->dimensions[dimensions.front()].is_unlimited;
}

/// Consecutive elements: those of a record, or all.
std::uint64_t ClassicPlaces::elements_together(std::size_t variable) const {
  Extent extent = contents_->extent_of(variable);
  if (has_records(variable)) extent.front() = 1;
  return element_count(extent);
}

std::uint64_t ClassicPlaces::place(std::size_t variable, std::uint64_t element,
                                   std::uint64_t record) const {
  const std::uint64_t bytes = size_of(contents_->variables[variable].type);
  if (!has_records(variable)) return begins_[variable] + element * bytes;
  return begins_[variable] + element / record * record_bytes_ + element % record * bytes;
}

std::uint64_t ClassicPlaces::end_of(std::size_t variable) const {
  const std::uint64_t count = element_count(contents_->extent_of(variable));
  if (count == 0) return 0;
  return place(variable, count - 1, elements_together(variable)) +
         size_of(contents_->variables[variable].type);
}

void swap_classic(std::byte* memory, std::uint64_t bytes, ElementType type) {
  if constexpr (std::endian::native == std::endian::big) return;
  const std::uint64_t elements = bytes / size_of(type);
  const Piece all{0, 0, elements};
  move_in_place({&all, 1}, {0, elements}, {size_of(type), true, Flow::from_file}, memory, memory);
}

}  // namespace slabmark::convert
