#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace slabmark {

/// Room for bytes that are all overwritten, so that making it costs no pass over memory.
class ScratchBytes {
 public:
  /// At least so many; what it held is lost where it had fewer.
  std::byte* fit(std::uint64_t bytes) {
    if (bytes > size_) {
      memory_.reset(new std::byte[bytes]);
      size_ = bytes;
    }
    return memory_.get();
  }

  std::byte* data() const { return memory_.get(); }
  std::uint64_t size() const { return size_; }

 private:
  std::unique_ptr<std::byte[]> memory_;
  std::uint64_t size_ = 0;
};

}  // namespace slabmark
