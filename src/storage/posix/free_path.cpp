#include "storage/posix/free_path.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/path.hpp"

namespace slabmark::posix {

namespace fs = std::filesystem;

void require_free_path(const std::string& path, bool overwrite, const std::string& choice) {
  const fs::path directory = directory_of(path);
  const std::string another = choice.empty() ? "another" : "another with " + choice;
  std::error_code error;
  if (!fs::is_directory(directory, error)) {
    throw InputError(
        fmt::format("The output directory '{}' does not exist; create it or choose {}.",
                    directory.string(), another));
  }
  if (access(directory.c_str(), W_OK) != 0) {
    throw InputError(fmt::format("The output directory '{}' is not writable ({}); choose {}.",
                                 directory.string(), std::strerror(errno), another));
  }
  const fs::file_status status = fs::symlink_status(path, error);
  if (error == std::errc::filename_too_long) {
    throw InputError(
        fmt::format("The name of the output file '{}' is too long; choose {}.", path, another));
  }
  if (!fs::exists(status)) return;
  if (!overwrite) {
    throw InputError(
        fmt::format("The output file '{}' exists already; remove it, choose {}, or "
                    "pass --overwrite.",
                    path, another));
  }
  if (!fs::is_regular_file(status)) {
    throw InputError(
        fmt::format("'{}' exists and is not a regular file, so it is not overwritten; choose {}.",
                    path, another));
  }
  if (!fs::remove(path, error)) {
    throw IoError(fmt::format("The file '{}' could not be removed: {}.", path, error.message()));
  }
}

}  // namespace slabmark::posix
