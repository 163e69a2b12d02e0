#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "capture/read/box_lists.hpp"

namespace slabmark {

/// Memory laid out as a list says, for a call whose elements do not lie one after another.
class CallMemory {
 public:
  CallMemory(const BoxArray& boxes, std::size_t element_bytes);

  /// The address that is passed to the library.
  std::byte* address() { return at(0); }
  void fill(const std::byte* dense);
  void empty(std::byte* dense);

 private:
  std::byte* at(std::int64_t offset) {
    return memory_.data() + (offset - first_) * static_cast<std::int64_t>(bytes_);
  }
  /// visit(offset in elements, number of the element), in the order of the selection.
  template <class Visit>
  void for_each(const Visit& visit) const;

  BoxArray boxes_;
  std::size_t bytes_;
  std::int64_t first_ = 0;  ///< offset of the first element of memory_
  std::vector<std::byte> memory_;
};

}  // namespace slabmark
