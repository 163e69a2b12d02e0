#include "capture/record/streams/list_coder.hpp"

namespace slabmark::capture {

std::uint64_t ListCoder::flags(bool is_memory) const {
  return (boxes_.strides_.empty() ? 0 : strided_list) |
         (is_memory && has_origin() ? list_has_origin : 0) |
         (is_memory && !boxes_.extent_.empty() ? list_has_extent : 0) |
         (boxes_.is_map_ ? list_is_map : 0);
}

void ListCoder::put(Bytes& list, bool is_memory) const {
  const std::size_t rank = boxes_.rank_;
  const std::size_t n = boxes_.size_;
  const std::uint64_t flags = this->flags(is_memory);
  thread_local Bytes rest;
  rest.clear();
  put_varint(rest, flags);
  put_varint(rest, rank);
  put_varint(rest, n);
  if (flags & list_has_extent) {
    for (const std::int64_t length : boxes_.extent_) {
      put_varint(rest, static_cast<std::uint64_t>(length));
    }
  }
  if (flags & list_has_origin) {
    for (std::size_t d = 0; d < rank; ++d) put_signed(rest, origin()[d]);
  }
  for (std::size_t d = 0; d < rank; ++d) {
    const std::int64_t first = has_origin() ? origin()[d] : 0;
    put_column(rest, n, [&](std::size_t i) {
      return difference(boxes_.start(i)[d], i == 0 ? first : boxes_.start(i - 1)[d]);
    });
  }
  for (std::size_t d = 0; d < rank; ++d) {
    put_column(rest, n, [&](std::size_t i) { return boxes_.count(i)[d]; });
  }
  if (flags & strided_list) {
    for (const auto* const numbers : {&boxes_.strides_, &boxes_.blocks_}) {
      for (std::size_t d = 0; d < rank; ++d) {
        put_column(rest, n, [&](std::size_t i) { return (*numbers)[i * rank + d]; });
      }
    }
  }
  put_varint(list, rest.size());
  list.insert(list.end(), rest.begin(), rest.end());
}

Hash ListCoder::hash(bool is_memory) const {
  const std::size_t rank = boxes_.rank_;
  const std::uint64_t flags = this->flags(is_memory);
  HashOfPairs hash(rank, boxes_.size_);
  hash.add(static_cast<std::int64_t>(flags), 0);
  if (flags & list_has_extent) {
    for (const std::int64_t length : boxes_.extent_) hash.add(length, 0);
  }
  if (flags & list_has_origin) {
    for (std::size_t d = 0; d < rank; ++d) hash.add(origin()[d], 0);
  }
  const std::vector<std::int64_t> none(rank);
  const std::int64_t* const first = has_origin() ? origin() : none.data();
  for (std::size_t i = 0; i < boxes_.size_; ++i) {
    const auto* const start = boxes_.start(i);
    const auto* const count = boxes_.count(i);
    for (std::size_t d = 0; d < rank; ++d) hash.add(difference(start[d], first[d]), count[d]);
  }
  for (std::size_t k = 0; k < boxes_.strides_.size(); ++k) {
    hash.add(boxes_.strides_[k], boxes_.blocks_[k]);
  }
  return hash.value();
}

}  // namespace slabmark::capture
