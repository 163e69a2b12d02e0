#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace slabmark::posix {

/// True if the kernel lets only one process at a time write to the file at `path`, so that more
/// writers of one machine gain nothing: true of Linux's own file systems and of NFS, which hold the
/// lock of the file during a buffered write; false of all others and where that cannot be found
/// out. Measured on ext4 and tmpfs: 1, 2 and 4 processes take equally long for the same bytes.
bool locks_file_to_write(const std::string& path);

bool is_on_lustre(const std::string& path);

/// The name of the file system at `path`, if it is one over a network whose clients append to a
/// file where they believe its end to be, so that processes on several machines may overwrite what
/// others append: NFS, SMB and 9P. Empty for all others, and where it cannot be found out.
std::string unsafe_append_filesystem(const std::string& path);

/// How a file lies on the servers of its file system, one stripe after another in a circle.
struct Stripes {
  std::uint64_t unit = 0;   ///< bytes of a stripe, which one server has
  std::uint64_t count = 1;  ///< of servers

  bool operator==(const Stripes&) const = default;
};

/// Of the file at `path`, as its file system tells: Lustre by the attribute lustre.lov, GPFS by the
/// size of its blocks, which clients lock. Nothing on others, and where it cannot be found out.
std::optional<Stripes> stripes_of(const std::string& path);

/// The content of Lustre's attribute; for a file in several components that of the last, which has
/// the bulk of a large file. Nothing if it is not understood.
std::optional<Stripes> read_lustre_layout(std::span<const std::byte> attribute);

}  // namespace slabmark::posix
