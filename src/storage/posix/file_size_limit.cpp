#include "storage/posix/file_size_limit.hpp"

#include <filesystem>
#include <sys/resource.h>
#include <system_error>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/base/number.hpp"
#include "core/base/path.hpp"

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

std::optional<std::uint64_t> space_left(const std::string& path) {
  std::error_code error;
  const auto space = std::filesystem::space(directory_of(path), error);
  if (error || space.capacity == 0) return std::nullopt;
  return space.available;
}

void require_space(const std::string& path, std::uint64_t bytes) {
  const auto left = space_left(path);
  if (!left || bytes <= *left) return;
  throw IoError(fmt::format(
      "'{}' would have {}, but its file system has only {} left; write elsewhere, or write less.",
      path, format_bytes(bytes), format_bytes(*left)));
}

}  // namespace slabmark::posix
