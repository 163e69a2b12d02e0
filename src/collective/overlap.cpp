#include "collective/overlap.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/base/number.hpp"
#include "storage/mpiio/file_name.hpp"
#include "storage/posix/file_system.hpp"

namespace slabmark::collective {

namespace {

std::optional<std::uint64_t> number_of(const char* text) {
  try {
    return parse_size(text, "a number");
  } catch (const InputError&) {
    return std::nullopt;
  }
}

/// The number in a file that has but one; nothing where it has none, such as "max".
std::optional<std::uint64_t> number_in(const std::string& path) {
  std::ifstream file(path);
  std::uint64_t number = 0;
  return file >> number ? std::optional(number) : std::nullopt;
}

std::uint64_t available_to_node() {
  std::ifstream file("/proc/meminfo");
  std::string name, unit;
  std::uint64_t kibibytes = 0;
  while (file >> name >> kibibytes && std::getline(file, unit)) {
    if (name == "MemAvailable:") return kibibytes << 10;
  }
  return std::uint64_t{1} << 30;
}

/// The memory that a batch system leaves to the job on this node (cgroup 2, and 1).
std::uint64_t available_to_job() {
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const std::size_t second = line.find(':', line.find(':') + 1);
    if (second == std::string::npos) continue;
    const bool is_unified = line.starts_with("0::");
    if (!is_unified && line.find(":memory:") == std::string::npos) continue;
    for (std::string group = line.substr(second + 1); !group.empty();
         group.resize(group == "/" ? 0 : std::max<std::size_t>(group.rfind('/'), 0))) {
      const std::string folder = (is_unified ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory") + group;
      const auto limit =
          number_in(folder + (is_unified ? "/memory.max" : "/memory.limit_in_bytes"));
      const auto used =
          number_in(folder + (is_unified ? "/memory.current" : "/memory.usage_in_bytes"));
      if (limit && used) least = std::min(least, *limit - std::min(*limit, *used));
    }
  }
  return least;
}

}  // namespace

Overlap overlap_of_environment() {
  const char* const set = std::getenv("SLABMARK_OVERLAP");
  const std::string_view word = set ? set : "";
  Overlap overlap;
  overlap.is_on = !word.empty() && word != "off" && word != "0" && word != "disable";
  if (!overlap.is_on) return overlap;
  overlap.flushes = number_of(set).value_or(0);
  const char* const memory = std::getenv("SLABMARK_OVERLAP_MEMORY");
  if (memory) overlap.memory = number_of(memory).value_or(0);
  return overlap;
}

std::string overlap_refusal(const std::string& path) {
  const auto says = [&](const std::string& reason) {
    return fmt::format("'{}' is written without overlap: {}.", path, reason);
  };
  if (const std::size_t prefix = mpiio::prefix_in_effect(path)) {
    return says(
        fmt::format("its name begins with '{}', by which MPI-IO may go past the kernel; "
                    "leave that out",
                    path.substr(0, prefix)));
  }
  if (std::getenv("ROMIO_FSTYPE_FORCE")) {
    return says("ROMIO_FSTYPE_FORCE may have MPI-IO go past the kernel; unset it");
  }
  const std::string file_system = posix::unsafe_append_filesystem(path);
  if (file_system.empty()) return "";
  return says(
      fmt::format("on {} its clients see what others wrote too late; choose a directory on "
                  "a local or parallel file system",
                  file_system));
}

std::uint64_t memory_to_wait_in(std::uint64_t processes) {
  const std::uint64_t free = std::min(available_to_node(), available_to_job());
  return free / 4 / std::max<std::uint64_t>(processes, 1);
}

}  // namespace slabmark::collective
