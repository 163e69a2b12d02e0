#pragma once

#include <cstdint>
#include <optional>

#include "accel/c_library/api/rearrange.h"

namespace slabmark::rearrange {

enum class Verb { write, read, iput, iget };

/// A caller's buffer of a decomposed array.
struct Buffer {
  int decomp;
  std::int64_t count;
  void* data;
  const void* fill = nullptr;
  std::optional<slabmark_type> type = std::nullopt;  ///< where the language knows it
};
/// slabmark_write_darray() and its like. Returns a code.
int move(Verb verb, int file, int variable, const Buffer& buffer);

/// iput or iget of elements that do not stand together: refused, as move() refuses.
int refuse_scattered(int file);

/// Where what a caller names of a buffer lies in an array.
struct Named {
  std::int64_t count;
  const std::int64_t* starts;
  bool are_runs;  ///< of `lengths`; else elements
  std::int64_t count_of_lengths;
  const std::int64_t* lengths;
  std::int64_t first;  ///< number of the first element of an array; before it: nowhere
};
/// slabmark_init_decomp() and its like.
int init_decomp(int system, slabmark_type type, int dimensions, const std::int64_t* extents,
                const Named& named, int* decomp);

}  // namespace slabmark::rearrange
