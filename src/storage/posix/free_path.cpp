#include "storage/posix/free_path.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/base/path.hpp"
#include "storage/posix/file.hpp"

namespace slabmark::posix {

namespace fs = std::filesystem;

namespace {

/// Why no file can be made at `path`, where nothing is, or nothing. access() says that root may
/// write to directories of /proc, say, in which no file can be made.
std::string reason_not_writable(const std::string& path) {
  const int file = open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
  if (file >= 0) {
    close(file);
    unlink(path.c_str());
    return "";
  }
  // A full file system is no fault of the input.
  return errno == ENOSPC || errno == EDQUOT ? "" : std::strerror(errno);
}

/// True if both lead to one file, which need not be there yet.
bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code missing;
  if (fs::equivalent(a, b, missing)) return true;
  const auto whole = [&](const std::string& path) {
    return fs::weakly_canonical(fs::absolute(path, missing), missing);
  };
  return whole(a) == whole(b);
}

/// True if the file begins with the bytes `kind`.
bool is_of_kind(const std::string& path, const std::string& kind) {
  if (kind.empty()) return false;
  File file = File::open_input(path, "output file");
  std::string begin(kind.size(), ' ');
  if (file.size() < kind.size()) return false;
  file.read_at(0, reinterpret_cast<std::byte*>(begin.data()), begin.size());
  return begin == kind;
}

}  // namespace

bool require_output(const std::string& path, const Output& output) {
  const std::string another = output.choice.empty() ? "another" : "another with " + output.choice;
  const auto refuse = [&](const std::string& reason) {
    throw InputError(fmt::format("The output file '{}' {}; choose {}.", path, reason, another));
  };
  const fs::path directory = directory_of(path);
  std::error_code error;
  const fs::file_status of_directory = fs::status(directory, error);
  if (!fs::is_directory(of_directory)) {
    throw InputError(fmt::format("The output directory '{}' {}; {}choose {}.", directory.string(),
                                 fs::exists(of_directory) ? "is no directory"
                                 : error && error != std::errc::no_such_file_or_directory
                                     ? fmt::format("cannot be used ({})", error.message())
                                     : "does not exist",
                                 fs::exists(of_directory) ? "" : "create it or ", another));
  }
  const fs::file_status status = fs::status(path, error);
  if (error == std::errc::filename_too_long) refuse("has too long a name");
  if (error == std::errc::too_many_symbolic_link_levels) refuse("is a symbolic link to itself");
  const bool exists = fs::exists(status);
  if (!exists && fs::is_symlink(path, error)) refuse("is a symbolic link that leads nowhere");
  if (exists && !fs::is_regular_file(status))
    refuse("exists and is not a regular file, so it is not overwritten");
  if (!output.records.empty() && is_same_file(path, output.records))
    refuse("is the record file of --json");
  for (const std::string& input : output.inputs) {
    if (exists && is_same_file(path, input)) refuse(fmt::format("is the input '{}'", input));
  }
  if (exists && !output.overwrite && !is_of_kind(path, output.own_kind)) {
    throw InputError(
        fmt::format("The output file '{}' exists already; remove it, choose {}, or pass "
                    "--overwrite.",
                    path, another));
  }
  const std::string reason = access(directory.c_str(), W_OK) != 0 ? std::strerror(errno)
                             : exists                             ? ""
                                                                  : reason_not_writable(path);
  if (reason.empty()) return exists;
  throw InputError(fmt::format("The output directory '{}' is not writable ({}); choose {}.",
                               directory.string(), reason, another));
}

bool require_replaceable(const std::string& path, const Output& output) {
  const bool exists = require_output(path, output);
  std::error_code error;
  if (fs::is_symlink(path, error)) {
    throw InputError(fmt::format(
        "The output file '{}' is a symbolic link; name the file that it leads to.", path));
  }
  return exists;
}

void require_free_path(const std::string& path, const Output& output) {
  if (!require_replaceable(path, output)) return;
  std::error_code error;
  if (!fs::remove(path, error)) {
    throw IoError(fmt::format("The file '{}' could not be removed: {}.", path, error.message()));
  }
}

}  // namespace slabmark::posix
