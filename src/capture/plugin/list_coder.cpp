#include "capture/plugin/list_coder.hpp"

namespace slabmark::capture {

void ListCoder::put(Bytes& list, bool is_memory) const {
  const std::size_t rank = boxes_.rank_;
  const std::size_t n = boxes_.size_;
  const bool strided = !boxes_.strides_.empty();
  const bool origin_is_said = is_memory && n > 0 && !boxes_.is_map_;
  const bool origin_is_known = n > 0 && !boxes_.is_map_;
  thread_local Bytes rest;
  rest.clear();
  put_varint(rest, (strided ? strided_list : 0) | (origin_is_said ? list_has_origin : 0) |
                       (is_memory && !boxes_.extent_.empty() ? list_has_extent : 0) |
                       (boxes_.is_map_ ? list_is_map : 0));
  put_varint(rest, rank);
  put_varint(rest, n);
  if (is_memory) {
    for (const std::int64_t length : boxes_.extent_) {
      put_varint(rest, static_cast<std::uint64_t>(length));
    }
  }
  if (origin_is_said) {
    for (std::size_t d = 0; d < rank; ++d) put_signed(rest, origin()[d]);
  }
  for (std::size_t d = 0; d < rank; ++d) {
    const std::int64_t first = origin_is_known ? origin()[d] : 0;
    const std::int64_t* const start = boxes_.starts_.data() + d;
    put_column(rest, n, [&](std::size_t i) {
      return difference(start[i * rank], i == 0 ? first : start[(i - 1) * rank]);
    });
  }
  const auto put_all = [&](const std::vector<std::int64_t>& numbers) {
    for (std::size_t d = 0; d < rank; ++d) {
      put_column(rest, n, [&](std::size_t i) { return numbers[i * rank + d]; });
    }
  };
  put_all(boxes_.counts_);
  if (strided) {
    put_all(boxes_.strides_);
    put_all(boxes_.blocks_);
  }
  put_varint(list, rest.size());
  list.insert(list.end(), rest.begin(), rest.end());
}

}  // namespace slabmark::capture
