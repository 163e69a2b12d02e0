#include "storage/posix/free_path.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <unistd.h>

#include <fmt/format.h>

#include "base/error.hpp"

namespace slabmark::posix {

namespace fs = std::filesystem;

void require_free_path(const std::string& path, bool overwrite) {
  fs::path directory = fs::path(path).parent_path();
  if (directory.empty()) directory = ".";
  std::error_code error;
  if (!fs::is_directory(directory, error)) {
    throw InputError(
        fmt::format("The output directory '{}' does not exist; create it or choose another.",
                    directory.string()));
  }
  if (access(directory.c_str(), W_OK) != 0) {
    throw InputError(fmt::format("The output directory '{}' is not writable ({}); choose another.",
                                 directory.string(), std::strerror(errno)));
  }
  const fs::file_status status = fs::symlink_status(path, error);
  if (!fs::exists(status)) return;
  if (!overwrite) {
    throw InputError(
        fmt::format("The output file '{}' exists already; remove it, choose another, or "
                    "pass --overwrite.",
                    path));
  }
  if (!fs::is_regular_file(status)) {
    throw InputError(fmt::format(
        "'{}' exists and is not a regular file, so it is not overwritten; choose another.", path));
  }
  if (!fs::remove(path, error)) {
    throw IoError(fmt::format("The file '{}' could not be removed: {}.", path, error.message()));
  }
}

}  // namespace slabmark::posix
