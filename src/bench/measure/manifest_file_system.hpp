#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/json/json.hpp"

namespace slabmark {

/// Where a directory is mounted from and how.
struct Mount {
  std::string point;    ///< "/scratch"
  std::string type;     ///< "lustre", "ext4"
  std::string source;   ///< device or server
  std::string options;  ///< of the mount and of the file system: "rw,relatime,flock"

  bool operator==(const Mount&) const = default;
};

/// The mount that holds the absolute path `path`: the longest matching mount point, of equal ones
/// the last, which lies on top. `mounts` is a table as fstab(5) describes it. Nothing if no line
/// matches, or there is no table.
std::optional<Mount> find_mount(std::string_view path,
                                const std::string& mounts = "/proc/self/mounts");

/// The file system of `path`, which need not exist yet: {"path", "mount_point", "type", "source",
/// "options", "lustre"}; the middle four are null where /proc is not mounted.
Json describe_file_system(const std::string& path);

/// What `tool getstripe` prints of `path`, of a folder for files to come (-d), as {"striping":
/// text}, or {"absent": why not} where `path` is not on Lustre (`type` says where it is) or the
/// tool is missing or fails. Lustre decides on the striping when it creates a file, so ask for the
/// file where there is one.
Json lustre_striping(const std::string& path, std::string_view type,
                     const std::string& tool = "lfs");

}  // namespace slabmark
