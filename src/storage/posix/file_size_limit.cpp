#include "storage/posix/file_size_limit.hpp"

#include <sys/resource.h>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/number.hpp"

namespace slabmark::posix {

void require_file_size_allowed(const std::string& what, std::uint64_t bytes) {
  struct rlimit limit {};
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0) return;
  if (limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur) return;
  throw IoError(
      fmt::format("{} may have {}, but the file size limit (ulimit -f) is {}; raise it, or write "
                  "less.",
                  what, format_bytes(bytes), format_bytes(limit.rlim_cur)));
}

}  // namespace slabmark::posix
