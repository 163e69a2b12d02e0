#pragma once

#include <cstdint>
#include <string>

namespace slabmark::posix {

/// The pages that the operating system keeps of a file in memory. All here is a request, which it
/// may ignore.
class CachedPages {
 public:
  CachedPages() = default;
  explicit CachedPages(const std::string& path);  ///< where it cannot be opened, nothing is asked
  ~CachedPages();
  CachedPages(CachedPages&& other) noexcept;
  CachedPages& operator=(CachedPages&& other) noexcept;

  /// Gives up the whole pages of these bytes that are on the disk; `bytes` = 0: up to the end.
  void drop(std::uint64_t offset = 0, std::uint64_t bytes = 0) const;

  /// Begins to write to the disk what is not there yet, and does not wait for it.
  void begin_writing() const;

 private:
  int descriptor_ = -1;
};

}  // namespace slabmark::posix
