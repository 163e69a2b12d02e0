#include "collective/file_identity.hpp"

#include <sys/stat.h>

#include "storage/mpiio/file_name.hpp"

namespace slabmark::collective {

std::optional<FileIdentity> identity_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str() + mpiio::prefix_in_effect(path), &status) != 0) return std::nullopt;
  return FileIdentity{status.st_dev, status.st_ino};
}

}  // namespace slabmark::collective
