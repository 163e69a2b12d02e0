#include "storage/posix/file_system.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <linux/magic.h>
#include <sys/vfs.h>

namespace slabmark::posix {

namespace {

// ext2, ext3 and ext4 have one number.
constexpr std::array<std::uint32_t, 6> locking = {EXT4_SUPER_MAGIC,  XFS_SUPER_MAGIC,
                                                  BTRFS_SUPER_MAGIC, TMPFS_MAGIC,
                                                  NFS_SUPER_MAGIC,   OVERLAYFS_SUPER_MAGIC};

}  // namespace

bool locks_file_to_write(const std::string& path) {
  struct statfs status {};
  if (::statfs(path.c_str(), &status) != 0) return false;
  const auto magic = static_cast<std::uint32_t>(status.f_type);
  return std::find(locking.begin(), locking.end(), magic) != locking.end();
}

}  // namespace slabmark::posix
