#include "storage/posix/stored_ranges.hpp"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "storage/posix/file.hpp"

namespace slabmark::posix {

namespace {

/// A descriptor that only seeks.
class Seeker {
 public:
  explicit Seeker(const std::string& path)
      : path_(path), descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (descriptor_ < 0) fail("open");
  }
  ~Seeker() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Seeker(const Seeker&) = delete;
  Seeker& operator=(const Seeker&) = delete;

  /// -1 with errno set where there is none.
  std::int64_t seek(std::uint64_t from, int what) const {
    return ::lseek(descriptor_, static_cast<off_t>(from), what);
  }
  [[noreturn]] void fail(const char* call) const {
    throw IoError(fmt::format("{} failed for '{}': {}.", call, path_, explain(errno)));
  }

 private:
  const std::string& path_;
  int descriptor_;
};

}  // namespace

std::vector<Range> stored_ranges(const std::string& path) {
  const Seeker file(path);
  const std::int64_t size = file.seek(0, SEEK_END);
  if (size < 0) file.fail("lseek");
  std::vector<Range> ranges;
  const auto end = static_cast<std::uint64_t>(size);
  for (std::uint64_t at = 0; at < end;) {
    const std::int64_t begin = file.seek(at, SEEK_DATA);
    if (begin < 0 && errno == ENXIO) break;  // a hole up to the end
    const std::int64_t hole =
        begin < 0 ? -1 : file.seek(static_cast<std::uint64_t>(begin), SEEK_HOLE);
    if (hole <= begin) return {{0, end}};
    ranges.push_back({static_cast<std::uint64_t>(begin), static_cast<std::uint64_t>(hole)});
    at = static_cast<std::uint64_t>(hole);
  }
  return ranges;
}

}  // namespace slabmark::posix
