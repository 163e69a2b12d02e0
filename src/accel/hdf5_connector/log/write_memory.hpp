#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace slabmark::slablog {

/// Memory for the elements of many writes. Small ones share blocks, since a malloc each would cost
/// more than the write. The first block is small: programs have thousands of datasets that are
/// written once.
class WriteMemory {
 public:
  std::byte* take(std::uint64_t bytes) {
    taken_ += bytes;
    if (bytes > free_bytes_) {
      const auto block = blocks_.empty() ? first_block_bytes : next_block_bytes_;
      next_block_bytes_ = std::min(most_block_bytes, 2 * block);
      const bool is_shared = bytes < block / 2;
      blocks_.push_back(std::make_unique_for_overwrite<std::byte[]>(is_shared ? block : bytes));
      if (!is_shared) return blocks_.back().get();
      free_ = blocks_.back().get();
      free_bytes_ = block;
    }
    free_bytes_ -= bytes;
    return std::exchange(free_, free_ + bytes);
  }

  std::uint64_t taken() const { return taken_; }  ///< bytes

  void clear() {
    blocks_.clear();
    free_bytes_ = 0;
    taken_ = 0;
  }

 private:
  static constexpr std::uint64_t first_block_bytes = 512;
  static constexpr std::uint64_t most_block_bytes = 64 << 10;

  std::vector<std::unique_ptr<std::byte[]>> blocks_;
  std::byte* free_ = nullptr;  ///< rest of the last block
  std::uint64_t free_bytes_ = 0;
  std::uint64_t next_block_bytes_ = 0;
  std::uint64_t taken_ = 0;
};

}  // namespace slabmark::slablog
