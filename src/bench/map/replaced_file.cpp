#include "bench/map/replaced_file.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "storage/posix/free_path.hpp"
#include "storage/posix/unfinished_name.hpp"

namespace slabmark {

namespace {

namespace fs = std::filesystem;

/// A link stays a link: what it points to is replaced.
std::string replaceable(const std::string& path) {
  return posix::require_output(path, {.overwrite = true}) ? fs::canonical(path).string() : path;
}

[[noreturn]] void fail_no_room(const std::string& path, std::uint64_t bytes,
                               const std::string& reason) {
  throw IoError(
      fmt::format("\"{}\" needs {} bytes and cannot be written: {}; free some space, or raise the "
                  "file size limit "
                  "(ulimit -f).",
                  path, bytes, reason));
}

/// 0, or why the file cannot grow to `bytes` bytes.
int try_size(int descriptor, std::uint64_t bytes) {
  const auto size = static_cast<off_t>(bytes);
  if (::ftruncate(descriptor, size) != 0) return errno;  // the file size limit
  if (::fallocate(descriptor, 0, 0, size) != 0 && (errno == ENOSPC || errno == EDQUOT))
    return errno;
  return 0;  // file systems without fallocate() tell in the end
}

}  // namespace

ReplacedFile::ReplacedFile(const std::string& path, std::uint64_t bytes)
    : path_(replaceable(path)), written_as_(posix::unfinished_name(path_)), guard_(written_as_) {
  create(bytes);
}

void ReplacedFile::create(std::uint64_t bytes) const {
  const int descriptor =
      ::open(written_as_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) {
    throw InputError(
        fmt::format("\"{}\" cannot be written: {}; name an output file in a directory that exists "
                    "and that you may "
                    "write to.",
                    path_, std::strerror(errno)));
  }
  // PnetCDF prints a line of its own for what fails in MPI-IO, so what can be known is found out
  // here.
  const int reason = bytes > 0 ? try_size(descriptor, bytes) : 0;
  ::close(descriptor);
  if (reason == 0) return;
  ::unlink(written_as_.c_str());
  fail_no_room(path_, bytes, std::strerror(reason));
}

ReplacedFile::~ReplacedFile() {
  if (!is_committed_) ::unlink(written_as_.c_str());
}

void ReplacedFile::commit(std::uint64_t bytes) {
  const std::uint64_t found = fs::file_size(written_as_);
  if (found < bytes) fail_no_room(path_, bytes, fmt::format("only {} bytes arrived", found));
  if (::rename(written_as_.c_str(), path_.c_str()) != 0) {
    throw IoError(
        fmt::format("\"{}\" could not be given its name: {}.", path_, std::strerror(errno)));
  }
  is_committed_ = true;
}

}  // namespace slabmark
