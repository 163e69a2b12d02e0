#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "capture/format/coding.hpp"
#include "capture/format/hash.hpp"
#include "capture/record/streams/list_coder.hpp"

namespace slabmark::capture {

/// The lists of a process: their numbers, and the bytes of the stream that are not written yet.
class ListStream {
 public:
  Bytes& bytes() { return bytes_; }

  /// The number of a list with these boxes, which is coded where it is new.
  std::uint64_t number(const ListCoder& coder, bool is_memory);

 private:
  Bytes bytes_;
  std::unordered_map<Hash, std::uint64_t, HashOfHash> numbers_;
  std::uint64_t count_ = 0;
};

inline std::uint64_t ListStream::number(const ListCoder& coder, bool is_memory) {
  // Beyond this many all are forgotten, and stored anew where they come again.
  constexpr std::size_t most_known = std::size_t{1} << 20;
  if (numbers_.size() >= most_known) numbers_.clear();
  const auto [place, is_new] = numbers_.try_emplace(coder.hash(is_memory), count_);
  if (is_new) {
    ++count_;
    coder.put(bytes_, is_memory);
  }
  return place->second;
}

}  // namespace slabmark::capture
