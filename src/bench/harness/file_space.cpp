#include "bench/harness/file_space.hpp"

#include <algorithm>
#include <sys/stat.h>
#include <vector>

#include <fmt/format.h>

#include "bench/harness/trial_file.hpp"
#include "bench/method/raw/raw_layout.hpp"
#include "core/base/error.hpp"
#include "core/base/number.hpp"
#include "core/parallel/agree.hpp"
#include "storage/posix/file_size_limit.hpp"

namespace slabmark {

namespace {

/// The least that a file contains. Elements that are written more than once count once if all are
/// written.
std::uint64_t stored_bytes(const Comm& comm, const Pattern& pattern) {
  const std::uint64_t records = record_count(pattern);
  std::uint64_t all = 0;
  for (const Dataset& dataset : pattern.datasets) {
    all +=
        element_count(dataset.extent()) * size_of(dataset.type) * (dataset.has_time ? records : 1);
  }
  return std::min(all, comm.sum(moved_bytes(pattern)));
}

struct Found {
  std::uint64_t length = 0;
  std::uint64_t on_disk = 0;
};

Found found_at(const std::vector<std::string>& paths) {
  Found found;
  for (const std::string& path : paths) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) continue;
    found.length += static_cast<std::uint64_t>(status.st_size);
    found.on_disk += static_cast<std::uint64_t>(status.st_blocks) * 512;
  }
  return found;
}

// Only there do blocks tell of loss: file systems that compress or write late have fewer, too.
bool is_full(const std::string& path) {
  const auto left = posix::space_left(path);
  return left && *left < (std::uint64_t{64} << 10);
}

bool compresses(const Cell& cell) {
  return cell.method->compresses && cell.method->compresses(cell.settings);
}

}  // namespace

void require_space(const Comm& comm, const Cell& cell, const Pattern& pattern,
                   const std::string& path) {
  if (cell.method->format == FileFormat::none || compresses(cell)) return;
  const std::uint64_t bytes = stored_bytes(comm, pattern);
  agreed(comm, [&] {
    // How large each of several files becomes their method knows, and looks itself.
    if (!format_of(cell, pattern).companions) {
      posix::require_file_size_allowed(fmt::format("'{}'", path), bytes);
    }
    if (comm.is_root()) posix::require_space(path, bytes);
  });
}

void require_stored(const Comm& comm, const Cell& cell, const Pattern& pattern,
                    const std::string& path, const Json& effective) {
  if (cell.method->format == FileFormat::none) return;
  std::uint64_t bytes = stored_bytes(comm, pattern);
  if (compresses(cell)) {
    bytes = std::min(bytes, effective.value("storage_bytes", std::uint64_t{0}));
  }
  agreed(comm, [&] {
    if (!comm.is_root()) return;
    std::vector<std::string> paths = {path};
    if (const Companions companions = format_of(cell, pattern).companions) {
      for (const std::string& other : companions(path)) paths.push_back(other);
    }
    const Found found = found_at(paths);
    const std::uint64_t arrived =
        is_full(path) ? std::min(found.length, found.on_disk) : found.length;
    if (arrived >= bytes) return;
    throw IoError(fmt::format(
        "'{}' has {}, but {} were written to it, and no call failed; check space and quota of its "
        "directory.",
        path, format_bytes(arrived), format_bytes(bytes)));
  });
}

}  // namespace slabmark
