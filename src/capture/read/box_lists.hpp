#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "capture/read/byte_reader.hpp"

namespace slabmark {

/// A list of a pattern file, taken apart: `count` boxes of arrays of `rank` dimensions.
struct BoxArray {
  std::size_t rank = 0;
  std::size_t count = 0;
  std::vector<std::int64_t> starts = {}, counts = {};   ///< box by box; starts less the origin
  std::vector<std::int64_t> strides = {}, blocks = {};  ///< the same, or empty: all are 1
  std::vector<std::int64_t> extent = {};                ///< of memory; empty: not said
  std::vector<std::int64_t> origin = {};                ///< of memory; empty: the event says it
  bool is_map = false;                                  ///< starts are distances in memory

  // By place in starts, counts and so on.
  std::int64_t stride(std::size_t k) const { return strides.empty() ? 1 : strides[k]; }
  std::int64_t block(std::size_t k) const { return blocks.empty() ? 1 : blocks[k]; }
  /// From the start of a box to its end, in a dimension in which it has elements.
  std::int64_t length(std::size_t k) const { return (counts[k] - 1) * stride(k) + block(k); }
  std::int64_t first(std::size_t dimension) const { return origin.empty() ? 0 : origin[dimension]; }

  std::uint64_t elements() const;
};

/// All lists of a recorded rank.
class BoxLists {
 public:
  /// Looks where they begin. `bytes` live as long; `place` is what messages call them.
  BoxLists(std::span<const std::uint8_t> bytes, std::string place);

  const std::string& place() const { return place_; }
  std::size_t size() const { return begins_.size(); }
  /// Takes list `i` apart. Throws InputError if there is none, or for a damaged one.
  BoxArray get(std::uint64_t i) const;

 private:
  std::span<const std::uint8_t> bytes_;
  std::string place_;
  std::vector<std::size_t> begins_;
};

}  // namespace slabmark
