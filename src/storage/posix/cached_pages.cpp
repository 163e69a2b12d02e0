#include "storage/posix/cached_pages.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <utility>

namespace slabmark::posix {

CachedPages::CachedPages(const std::string& path)
    : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}

CachedPages::~CachedPages() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

CachedPages::CachedPages(CachedPages&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

CachedPages& CachedPages::operator=(CachedPages&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

void CachedPages::drop(std::uint64_t offset, std::uint64_t bytes) const {
  if (descriptor_ < 0) return;
  static_cast<void>(::posix_fadvise(descriptor_, static_cast<off_t>(offset),
                                    static_cast<off_t>(bytes), POSIX_FADV_DONTNEED));
}

void CachedPages::begin_writing() const {
#ifdef SYNC_FILE_RANGE_WRITE
  if (descriptor_ < 0) return;
  static_cast<void>(::sync_file_range(descriptor_, 0, 0, SYNC_FILE_RANGE_WRITE));
#endif
}

}  // namespace slabmark::posix
