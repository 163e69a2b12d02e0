#include "accel/c_library/adopted.hpp"

#include <filesystem>
#include <sys/stat.h>
#include <system_error>

#include <fmt/format.h>

#include "accel/c_library/api/rearrange.h"
#include "accel/c_library/failure.hpp"
#include "storage/mpiio/file_name.hpp"

namespace slabmark::rearrange {

namespace {

/// True if this process has the file of that name open; true where the system does not say.
bool has_open(const std::string& path) {
  struct stat named {
  }, its{};
  if (::stat(path.c_str(), &named) != 0) return false;
  std::error_code error;
  std::filesystem::directory_iterator entry("/proc/self/fd", error);
  if (error) return true;
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    if (::stat(entry->path().c_str(), &its) != 0) continue;
    if (its.st_dev == named.st_dev && its.st_ino == named.st_ino) return true;
  }
  return false;
}

}  // namespace

// Ranks that do no I/O may not have it open: MPI-IO opens it where it is needed.
void require_same_place(const Comm& ranks, const std::string& path) {
  const bool stays = path.starts_with('/') || mpiio::prefix_of(path) > 0;
  if (ranks.any(stays || has_open(path))) return;
  throw Failure(
      SLABMARK_EARGUMENT,
      fmt::format("'{}' was opened in another directory than the program is in now; open it "
                  "by its whole path, or adopt it before the program goes elsewhere.",
                  path));
}

}  // namespace slabmark::rearrange
