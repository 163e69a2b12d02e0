#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "core/base/checksum.hpp"

namespace slabmark::capture {

/// The name of the folder of a spool is that of the pattern file, and this. The lab (capture.py)
/// removes by these names the files that captured programs make in it.
constexpr char spool_folder_ending[] = ".parts";
constexpr char spool_file_ending[] = ".spool";
/// The number that a process has drawn; with it comes how many calls its children made (8 bytes).
constexpr char spool_children_ending[] = ".children";
/// The lock of processes that share a file's pointer.
constexpr char spool_lock[] = "shared-pointer.lock";
constexpr char spool_magic[] = "SLABSPL1";

enum class Stream : std::uint32_t {
  definitions = 1,
  lists = 2,
  events = 3,
  pending = 4  ///< the block that was not ended yet; without meaning once more events follow
};

/// The begin of a frame of the spool, as it stands there.
struct SpoolFrame {
  char magic[8] = {};
  std::uint64_t process = 0;
  std::uint64_t number = 0;
  std::uint32_t stream = 0;
  std::uint32_t bytes = 0;
  std::uint64_t checksum = 0;

  std::uint64_t checksum_of(std::span<const std::byte> payload) const {
    return Checksum()
        .add(process)
        .add(number)
        .add(stream | static_cast<std::uint64_t>(bytes) << 32)
        .add(payload)
        .value();
  }
};
static_assert(sizeof(SpoolFrame) == 40);

}  // namespace slabmark::capture
