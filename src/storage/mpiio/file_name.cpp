#include "storage/mpiio/file_name.hpp"

#include <filesystem>
#include <set>
#include <unistd.h>

namespace slabmark::mpiio {

// Those of ROMIO and of PnetCDF; any other name with a colon, such as a time of day, is one.
std::size_t prefix_of(const std::string& path) {
  static const std::set<std::string> file_systems = {
      "bglockless", "daos", "ftp",   "gpfs", "gsiftp", "hfs", "ime",    "lustre", "nfs",
      "panfs",      "pfs",  "piofs", "pvfs", "pvfs2",  "sfs", "testfs", "ufs",    "xfs"};
  const std::size_t colon = path.find(':');
  if (colon == std::string::npos) return 0;
  return file_systems.contains(path.substr(0, colon)) ? colon + 1 : 0;
}

std::size_t prefix_in_effect(const std::string& path) {
  return ::access(path.c_str(), F_OK) == 0 ? 0 : prefix_of(path);
}

std::string absolute(const std::string& path, const std::string& directory) {
  const std::size_t prefix = prefix_in_effect(path);
  std::error_code ignored;
  const auto found =
      std::filesystem::absolute(std::filesystem::path(directory) / path.substr(prefix), ignored);
  return ignored ? path : path.substr(0, prefix) + found.string();
}

}  // namespace slabmark::mpiio
