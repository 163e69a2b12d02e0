#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace slabmark::rearrange {

/// Copies of what a program puts, in memory that is used again and again: to touch fresh memory
/// takes longer than the copy. No more is held than was needed at a time.
class Copies {
 public:
  Copies();

  /// Memory for one, which comes back when the last pointer to it goes, on any thread.
  std::shared_ptr<std::byte[]> memory(std::uint64_t bytes);

 private:
  struct Pool;
  std::shared_ptr<Pool> pool_;
};

}  // namespace slabmark::rearrange
