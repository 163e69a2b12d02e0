#include "core/geometry/chunk_grid.hpp"

#include <utility>

#include <fmt/format.h>

#include "core/base/error.hpp"

namespace slabmark {

ChunkGrid::ChunkGrid(Extent extent, Extent chunk)
    : extent_(std::move(extent)), chunk_(std::move(chunk)) {
  if (extent_.empty() || extent_.size() != chunk_.size() ||
      std::find(chunk_.begin(), chunk_.end(), 0) != chunk_.end()) {
    throw InputError(fmt::format("Chunks of {} do not suit an array of {}.", to_string(chunk_),
                                 to_string(extent_)));
  }
  chunk_elements_ = element_count(chunk_);
  for (std::size_t d = 0; d < extent_.size(); ++d) {
    counts_.push_back(extent_[d] / chunk_[d] + (extent_[d] % chunk_[d] > 0 ? 1 : 0));
    if (d > 0 && chunk_[d] == extent_[d]) {
      axes_.back().length *= extent_[d];
      axes_.back().chunk *= extent_[d];
    } else {
      axes_.push_back({extent_[d], chunk_[d]});
    }
  }
  chunks_ = element_count(counts_);
  element_count(Extent{chunks_, chunk_elements_});
  for (std::size_t d = axes_.size() - 1; d-- > 0;) {
    const Axis& faster = axes_[d + 1];
    axes_[d].chunk_stride =
        faster.chunk_stride * ((faster.length + faster.chunk - 1) / faster.chunk);
    axes_[d].place_stride = faster.place_stride * faster.chunk;
  }
}

Extent ChunkGrid::first_element(std::uint64_t chunk) const {
  Extent first = indices_of(chunk, counts_);
  for (std::size_t d = 0; d < first.size(); ++d) first[d] *= chunk_[d];
  return first;
}

std::uint64_t ChunkGrid::chunk_of(const Extent& element) const {
  Extent place(counts_.size());
  for (std::size_t d = 0; d < place.size(); ++d) place[d] = element[d] / chunk_[d];
  return offset_of(place.data(), counts_);
}

std::uint64_t ChunkGrid::elements_in_array(std::uint64_t chunk) const {
  const Extent first = first_element(chunk);
  std::uint64_t elements = 1;
  for (std::size_t d = 0; d < first.size(); ++d) {
    elements *= std::min(chunk_[d], extent_[d] - first[d]);
  }
  return elements;
}

}  // namespace slabmark
