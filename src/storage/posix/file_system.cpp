#include "storage/posix/file_system.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <utility>
#include <vector>

namespace slabmark::posix {

namespace {

// ext2, ext3 and ext4 have one number.
constexpr std::array<std::uint32_t, 6> locking = {EXT4_SUPER_MAGIC,  XFS_SUPER_MAGIC,
                                                  BTRFS_SUPER_MAGIC, TMPFS_MAGIC,
                                                  NFS_SUPER_MAGIC,   OVERLAYFS_SUPER_MAGIC};

// open(2) on O_APPEND and NFS; the two after it are of CIFS and of SMB 2 and 3.
constexpr std::array<std::pair<std::uint32_t, const char*>, 4> losing = {
    {{NFS_SUPER_MAGIC, "NFS"}, {0xFF534D42, "SMB"}, {0xFE534D42, "SMB"}, {V9FS_MAGIC, "9P"}}};

constexpr std::uint32_t lustre = 0x0BD00BD0;
constexpr std::uint32_t gpfs = 0x47504653;

/// The number of the file system; 0 if it cannot be found out.
std::uint32_t magic_of(const std::string& path) {
  struct statfs status {};
  return ::statfs(path.c_str(), &status) == 0 ? static_cast<std::uint32_t>(status.f_type) : 0;
}

/// The attribute, in the machine's order of bytes, of which there may be fewer than a field needs.
class Layout {
 public:
  explicit Layout(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <class Number>
  std::optional<Number> number(std::size_t at) const {
    Number value = 0;
    if (at > bytes_.size() || bytes_.size() - at < sizeof value) return {};
    std::memcpy(&value, bytes_.data() + at, sizeof value);
    return value;
  }
  Layout from(std::size_t at) const { return Layout(bytes_.subspan(std::min(at, bytes_.size()))); }

 private:
  std::span<const std::byte> bytes_;
};

/// struct lov_user_md_v1, and v3, which begins alike: magic, pattern, 16 bytes of name, unit,
/// count.
std::optional<Stripes> read_component(const Layout& layout) {
  constexpr std::uint32_t v1 = 0x0BD10BD0;
  constexpr std::uint32_t v3 = 0x0BD30BD0;
  constexpr std::uint16_t all_servers = 0xFFFF;  // until it is known how many there are
  const auto magic = layout.number<std::uint32_t>(0);
  const auto unit = layout.number<std::uint32_t>(24);
  const auto count = layout.number<std::uint16_t>(28);
  if (!count || (magic != v1 && magic != v3) || *unit == 0) return {};
  return Stripes{*unit, *count == 0 || *count == all_servers ? 1u : *count};
}

}  // namespace

bool locks_file_to_write(const std::string& path) {
  return std::find(locking.begin(), locking.end(), magic_of(path)) != locking.end();
}

bool is_on_lustre(const std::string& path) { return magic_of(path) == lustre; }

std::string unsafe_append_filesystem(const std::string& path) {
  const auto found =
      std::find_if(losing.begin(), losing.end(),
                   [magic = magic_of(path)](const auto& one) { return one.first == magic; });
  return found == losing.end() ? "" : found->second;
}

std::optional<Stripes> read_lustre_layout(std::span<const std::byte> attribute) {
  // struct lov_comp_md_v1: the number of entries at 14, and from 32 on entries of 48 bytes, each
  // with the begin of its part of the file at 8 and the place of its component at 24.
  constexpr std::uint32_t composite = 0x0BD60BD0;
  constexpr std::size_t first_entry = 32;
  constexpr std::size_t entry_bytes = 48;
  const Layout layout(attribute);
  if (layout.number<std::uint32_t>(0) != composite) return read_component(layout);
  std::optional<Stripes> last;
  std::uint64_t last_begin = 0;
  for (std::size_t i = 0; i < layout.number<std::uint16_t>(14).value_or(0); ++i) {
    const Layout entry = layout.from(first_entry + i * entry_bytes);
    const auto begin = entry.number<std::uint64_t>(8);
    const auto place = entry.number<std::uint32_t>(24);
    if (!place || (last && *begin <= last_begin)) continue;
    if (const auto stripes = read_component(layout.from(*place))) {
      last = stripes;
      last_begin = *begin;
    }
  }
  return last;
}

std::optional<Stripes> stripes_of(const std::string& path) {
  const std::uint32_t magic = magic_of(path);
  if (magic == lustre) {
    std::vector<std::byte> attribute(1u << 16);  // the most that Linux gives
    const auto bytes = ::getxattr(path.c_str(), "lustre.lov", attribute.data(), attribute.size());
    if (bytes < 0) return {};
    return read_lustre_layout({attribute.data(), static_cast<std::size_t>(bytes)});
  }
  struct stat status {};
  if (magic != gpfs || ::stat(path.c_str(), &status) != 0 || status.st_blksize <= 0) return {};
  return Stripes{static_cast<std::uint64_t>(status.st_blksize), 1};
}

}  // namespace slabmark::posix
