#include "bench/method/hdf5/chunk.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/base/number.hpp"

namespace slabmark {

namespace {

// File formats before HDF5 2.0 hold a chunk's size in 32 bits.
constexpr std::uint64_t largest_chunk_bytes = (std::uint64_t{1} << 32) - 1;

std::uint64_t chunk_bytes(const Extent& chunk, ElementType type) {
  auto bytes = static_cast<std::uint64_t>(size_of(type));
  for (const auto length : chunk) {
    if (__builtin_mul_overflow(bytes, length, &bytes)) return largest_chunk_bytes + 1;
  }
  return bytes;
}

// HDF5 takes no chunk of length 0, nor one that is longer than a dimension that cannot grow.
Extent at_least_one(Extent extent) {
  for (auto& length : extent) length = std::max<std::uint64_t>(1, length);
  return extent;
}

// One time step a chunk, cut along its slow dimensions until HDF5 can hold it.
Extent whole_step(const Dataset& dataset) {
  auto chunk = at_least_one(dataset.extent());
  for (auto& length : chunk) {
    while (length > 1 && chunk_bytes(chunk, dataset.type) > largest_chunk_bytes) {
      length = (length + 1) / 2;
    }
  }
  return chunk;
}

Extent of_about(std::uint64_t elements, const Dataset& dataset) {
  auto chunk = at_least_one(dataset.extent());
  for (std::size_t d = chunk.size(); d-- > 0;) {
    chunk[d] = std::min(chunk[d], std::max<std::uint64_t>(1, elements));
    elements /= chunk[d];
  }
  return chunk;
}

Extent parse_lengths(std::string_view text) {
  Extent lengths;
  while (true) {
    const auto cross = text.find('x');
    lengths.push_back(parse_size(text.substr(0, cross), "a length"));
    if (cross == std::string_view::npos) return lengths;
    text.remove_prefix(cross + 1);
  }
}

}  // namespace

Hdf5Chunks::Hdf5Chunks(const std::string& text, const std::string& what) : text_(text) {
  std::replace(text_.begin(), text_.end(), ',', 'x');  // the same lengths, so the same in records
  if (text == "pattern" || text == "none") return;
  Extent lengths;
  try {
    lengths = parse_lengths(text_);
  } catch (const InputError&) {
  }
  if (lengths.empty() || std::find(lengths.begin(), lengths.end(), 0) != lengths.end()) {
    throw InputError(
        fmt::format("{} is '{}'; it takes {}.", what, text, ChunkText{}.accepted_values()));
  }
  if (lengths.size() == 1) {
    elements_ = lengths.front();
  } else {
    lengths_ = std::move(lengths);
  }
}

std::optional<Extent> Hdf5Chunks::wanted(const Dataset& dataset) const {
  const auto rank = dataset.dimensions.size();
  if (text_ == "pattern") return dataset.chunk;
  if (rank == 0) return std::nullopt;
  if (elements_ > 0) return of_about(elements_, dataset);
  if (lengths_.empty()) return std::nullopt;
  Extent chunk(rank, 1);
  std::copy_n(lengths_.rbegin(), std::min(rank, lengths_.size()), chunk.rbegin());
  return chunk;
}

Extent Hdf5Chunks::of(const Dataset& dataset, bool fixed_time, std::uint64_t time_chunk) const {
  auto chunk = wanted(dataset);
  if (!chunk) {
    if (!dataset.has_time || fixed_time) return {};
    chunk = whole_step(dataset);
  }
  const auto longest = at_least_one(dataset.extent());
  for (std::size_t d = 0; d < chunk->size(); ++d) (*chunk)[d] = std::min((*chunk)[d], longest[d]);
  if (dataset.has_time) chunk->insert(chunk->begin(), time_chunk);
  return *chunk;
}

std::optional<std::string> Hdf5Chunks::unsuited(const Dataset& dataset,
                                                std::uint64_t time_chunk) const {
  const auto chunk = wanted(dataset);
  if (!chunk) return std::nullopt;
  if (chunk->empty() || chunk->size() != dataset.dimensions.size() ||
      std::find(chunk->begin(), chunk->end(), 0) != chunk->end()) {
    return fmt::format("the chunk {} does not suit dataset {} of {}", to_string(*chunk),
                       dataset.name, to_string(dataset.extent()));
  }
  if (chunk_bytes(of(dataset, false, time_chunk), dataset.type) > largest_chunk_bytes) {
    return fmt::format("the chunk {} of dataset {} is 4 GiB or more", to_string(*chunk),
                       dataset.name);
  }
  return std::nullopt;
}

}  // namespace slabmark
