#include "collective/exchange/file_domain.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/error.hpp"

namespace slabmark {

namespace {

bool lies_before(const ArrayPlace& a, const ArrayPlace& b) { return a.offset < b.offset; }

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

/// The first position from `position` on that lies at byte `offset` of the file, or behind it.
// Small arrays may lie between: a stripe holds hundreds of those that have a number a column.
std::uint64_t position_at(const FileDomain& domain, std::uint64_t offset, std::uint64_t position) {
  const std::span<const FileDomain::Array> arrays = domain.arrays();
  auto array =
      std::partition_point(arrays.begin(), arrays.end(),
                           [&](const FileDomain::Array& one) { return one.end() <= position; });
  for (; array != arrays.end(); ++array) {
    const ArrayPlace& place = array->place;
    if (place.offset >= offset) return std::max(array->begin, position);
    if (offset < place.offset + place.bytes()) return array->begin + (offset - place.offset);
  }
  return domain.bytes();
}

}  // namespace

FileDomain::FileDomain(std::span<const ArrayPlace> places, std::uint64_t padding) {
  std::vector<ArrayPlace> sorted;
  for (const ArrayPlace& place : places) {
    if (place.bytes() > 0) sorted.push_back(place);
  }
  std::sort(sorted.begin(), sorted.end(), lies_before);
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  std::uint64_t file_end = 0;
  for (const ArrayPlace& place : sorted) {
    if (!arrays_.empty()) {
      if (place.offset < file_end) {
        throw InputError(fmt::format(
            "Two arrays share byte {} of the file, so they cannot be rearranged.", place.offset));
      }
      const std::uint64_t gap = place.offset - file_end;
      if (gap <= padding) bytes_ += gap;
    }
    arrays_.push_back({place, bytes_});
    bytes_ += place.bytes();
    file_end = place.offset + place.bytes();
  }
}

std::size_t FileDomain::array_at(const ArrayPlace& place) const {
  const auto found = std::lower_bound(arrays_.begin(), arrays_.end(), place,
                                      [](const Array& array, const ArrayPlace& wanted) {
                                        return lies_before(array.place, wanted);
                                      });
  return static_cast<std::size_t>(found - arrays_.begin());
}

// The last array that begins at or before `position`.
std::size_t FileDomain::array_before(std::uint64_t position) const {
  const auto after = std::upper_bound(
      arrays_.begin(), arrays_.end(), position,
      [](std::uint64_t wanted, const Array& array) { return wanted < array.begin; });
  return static_cast<std::size_t>(after - arrays_.begin()) - 1;
}

std::uint64_t FileDomain::next_unit(std::uint64_t position) const {
  if (position >= bytes_) return bytes_;
  const Array& array = arrays_[array_before(position)];
  // In the padding behind an array every position is whole.
  if (position >= array.end()) return position;
  return array.begin + round_up(position - array.begin, array.place.unit_bytes());
}

std::uint64_t FileDomain::unit_begin(std::uint64_t position) const {
  if (position >= bytes_) return bytes_;
  const Array& array = arrays_[array_before(position)];
  if (position >= array.end()) return position;
  return position - (position - array.begin) % array.place.unit_bytes();
}

std::uint64_t FileDomain::largest_unit() const {
  std::uint64_t largest = 0;
  for (const Array& array : arrays_) largest = std::max(largest, array.place.unit_bytes());
  return largest;
}

std::vector<std::uint64_t> FileDomain::cut(std::uint64_t parts, std::uint64_t alignment) const {
  std::vector<std::uint64_t> cuts{0};
  for (std::uint64_t part = 1; part < parts; ++part) {
    std::uint64_t position = equal_range(bytes_, part, parts).offset;
    if (position < bytes_) {
      const bool fixed = arrays_[array_before(position)].place.unit > 0;
      const std::uint64_t aligned =
          fixed ? position
                : position_at(*this, round_up(file_offset(position), alignment), position);
      position = next_unit(aligned);
    }
    cuts.push_back(std::max(position, cuts.back()));
  }
  cuts.push_back(bytes_);
  return cuts;
}

std::vector<FileDomain::Part> FileDomain::parts_in(std::uint64_t begin, std::uint64_t end) const {
  std::vector<Part> parts;
  if (begin >= end) return parts;
  for (std::size_t i = array_before(begin); i < arrays_.size() && arrays_[i].begin < end; ++i) {
    const Array& array = arrays_[i];
    const std::uint64_t from = std::max(begin, array.begin);
    const std::uint64_t to = std::min(end, array.end());
    if (from >= to) continue;
    const std::uint64_t size = array.place.element_bytes;
    parts.push_back({i, {(from - array.begin) / size, (to - from) / size}});
  }
  return parts;
}

std::uint64_t FileDomain::file_offset(std::uint64_t position) const {
  const Array& array = arrays_[array_before(position)];
  return array.place.offset + (position - array.begin);
}

}  // namespace slabmark
