#include "storage/posix/free_path.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/path.hpp"

namespace slabmark::posix {

namespace fs = std::filesystem;

namespace {

/// Why no file can be made at `path`, where nothing is, or nothing. access() says that root may
/// write to directories of /proc, say, in which no file can be made.
std::string reason_against(const std::string& path) {
  const int file = open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
  if (file >= 0) {
    close(file);
    unlink(path.c_str());
    return "";
  }
  // A full file system is no fault of the input.
  return errno == ENOSPC || errno == EDQUOT ? "" : std::strerror(errno);
}

}  // namespace

void require_free_path(const std::string& path, bool overwrite, const std::string& choice) {
  const fs::path directory = directory_of(path);
  const std::string another = choice.empty() ? "another" : "another with " + choice;
  std::error_code error;
  if (!fs::is_directory(directory, error)) {
    throw InputError(
        fmt::format("The output directory '{}' does not exist; create it or choose {}.",
                    directory.string(), another));
  }
  const fs::file_status status = fs::symlink_status(path, error);
  if (error == std::errc::filename_too_long) {
    throw InputError(
        fmt::format("The name of the output file '{}' is too long; choose {}.", path, another));
  }
  const auto require_writable = [&](const std::string& reason) {
    if (reason.empty()) return;
    throw InputError(fmt::format("The output directory '{}' is not writable ({}); choose {}.",
                                 directory.string(), reason, another));
  };
  if (access(directory.c_str(), W_OK) != 0) require_writable(std::strerror(errno));
  if (!fs::exists(status)) return require_writable(reason_against(path));
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
