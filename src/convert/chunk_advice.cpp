#include "convert/chunk_advice.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

namespace slabmark::convert {

namespace {

constexpr double bytes_a_chunk = 64 << 10;  // that are read in the time that finding one takes

// Those of lab/slabmark/advise/chunks.py, which a test compares.
constexpr std::array<std::uint64_t, 2> tried_elements = {1u << 16, 1u << 13};
constexpr std::array<std::uint64_t, 2> tried_times = {16, 128};

/// About so many elements: whole dimensions from the fastest on, then a part of the next.
Extent about(std::uint64_t elements, const Extent& lengths) {
  Extent chunk(lengths.size());
  for (std::size_t d = lengths.size(); d-- > 0;) {
    chunk[d] = std::max<std::uint64_t>(1, std::min(lengths[d], elements));
    elements /= chunk[d];
  }
  return chunk;
}

/// About so many elements, of the same share of each dimension.
Extent even(std::uint64_t elements, const Extent& lengths) {
  const double all = static_cast<double>(element_count(lengths));
  const double share = std::min(1.0, std::pow(static_cast<double>(elements) / all,
                                              1.0 / static_cast<double>(lengths.size())));
  Extent chunk;
  for (const std::uint64_t length : lengths) {
    const double part = std::ceil(static_cast<double>(length) * share);
    chunk.push_back(std::max<std::uint64_t>(1, static_cast<std::uint64_t>(part)));
  }
  return chunk;
}

std::vector<Extent> candidates(const Extent& extent) {
  const Extent lengths(extent.begin() + 1, extent.end());
  std::vector<Extent> chunks;
  const auto add = [&](std::uint64_t times, Extent of_one) {
    of_one.insert(of_one.begin(), times);
    chunks.push_back(std::move(of_one));
  };
  add(1, lengths);
  if (lengths.size() > 1) {
    Extent level = lengths;
    level.front() = 1;
    add(1, level);
  }
  for (const std::uint64_t elements : tried_elements) {
    add(1, about(elements, lengths));
    add(1, even(elements, lengths));
    for (const std::uint64_t steps : tried_times) {
      const std::uint64_t times = std::min(steps, extent.front());
      if (times > 1) add(times, about(std::max<std::uint64_t>(1, elements / times), lengths));
    }
  }
  return chunks;
}

/// The bytes that a reader touches, and so many more for each chunk.
double cost(ChunkUse use, const Extent& extent, const Extent& chunk, std::uint64_t element_bytes) {
  double touched = 1;
  for (std::size_t d = 0; d < extent.size(); ++d) {
    const bool is_whole = use == ChunkUse::series  ? d == 0
                          : use == ChunkUse::level ? d > 1 || (d == 1 && extent.size() == 2)
                                                   : d > 0;
    if (is_whole) touched *= static_cast<double>((extent[d] + chunk[d] - 1) / chunk[d]);
  }
  return touched * (static_cast<double>(element_count(chunk) * element_bytes) + bytes_a_chunk);
}

}  // namespace

Extent advised_chunk(ChunkUse use, const Extent& extent, std::uint64_t element_bytes) {
  constexpr std::array all = {ChunkUse::series, ChunkUse::level, ChunkUse::field};
  const std::vector<Extent> chunks = candidates(extent);
  std::vector<double> costs(chunks.size(), 0.0);
  for (const ChunkUse one : all) {
    if (use != one && use != ChunkUse::mix) continue;
    std::vector<double> of_one;
    for (const Extent& chunk : chunks) of_one.push_back(cost(one, extent, chunk, element_bytes));
    const double least = *std::ranges::min_element(of_one);
    for (std::size_t i = 0; i < chunks.size(); ++i) costs[i] += of_one[i] / least;
  }
  const auto best = std::ranges::min_element(costs);
  return chunks[static_cast<std::size_t>(best - costs.begin())];
}

}  // namespace slabmark::convert
