#include "storage/posix/file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <string_view>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "storage/posix/failure.hpp"

namespace slabmark::posix {

namespace {

// Linux moves at most 0x7ffff000 bytes a call and reports less as a short transfer; asking for
// whole GiB keeps the pieces page-aligned.
constexpr std::uint64_t largest_transfer = std::uint64_t{1} << 30;

std::string_view remedy(int error) {
  switch (error) {
    case EACCES:
    case EPERM:
      return "check the permissions of the file and of its directory";
    case EDQUOT:
      return "free some of your quota or choose another directory";
    case EEXIST:
      return "remove it or choose another name";
    case EFBIG:
      return "raise the file size limit (ulimit -f) or choose a file system that takes larger "
             "files";
    case EIO:
    case ESTALE:
      return "the storage itself failed, ask its administrator";
    case EISDIR:
      return "name a file in it";
    case EMFILE:
    case ENFILE:
      return "raise the limit of open files (ulimit -n)";
    case ENOENT:
    case ENOTDIR:
      return "check the name and make the directory first";
    case ENOSPC:
      return "free some space there or choose another directory";
    case EROFS:
      return "choose a directory on a writable file system";
    default:
      return "choose another file or directory";
  }
}

[[noreturn]] void fail_on(const std::string& path, const char* call, int error) {
  throw Failure(error, fmt::format("{} failed on '{}': {}.", call, path, explain(error)));
}

int open_retrying(const std::string& path, int flags) {
  for (;;) {
    const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
    if (descriptor >= 0) return descriptor;
    if (errno != EINTR) fail_on(path, "open", errno);
  }
}

}  // namespace

std::string explain(int error) {
  return fmt::format("{}; {}", std::strerror(error), remedy(error));
}

File File::create(const std::string& path) {
  return {open_retrying(path, O_RDWR | O_CREAT | O_EXCL), path};
}

File File::create_unnamed(const std::string& beside) {
  std::string name = beside + ".XXXXXX";
  const int descriptor = ::mkostemp(name.data(), O_CLOEXEC);
  if (descriptor < 0) fail_on(name, "mkostemp", errno);
  File file(descriptor, name);
  posix::unlink(name);
  return file;
}

File File::open(const std::string& path, Access access) {
  return {open_retrying(path, access == Access::write ? O_RDWR : O_RDONLY), path};
}

File File::open_direct(const std::string& path, Access access) {
  const int flags = (access == Access::write ? O_RDWR : O_RDONLY) | O_DIRECT | O_CLOEXEC;
  int descriptor = -1;
  do {
    descriptor = ::open(path.c_str(), flags);
  } while (descriptor < 0 && errno == EINTR);
  if (descriptor >= 0) return {descriptor, path};
  if (errno != EINVAL) fail_on(path, "open", errno);
  throw InputError(
      fmt::format("The file system of '{}' has no direct I/O (O_DIRECT); choose a directory on "
                  "another one, or go through the page cache.",
                  path));
}

File File::open_input(const std::string& path, std::string_view what) {
  const auto refuse = [&](const std::string& reason) {
    throw InputError(
        fmt::format("The {} '{}' cannot be read: {}; name another.", what, path, reason));
  };
  // O_NONBLOCK, since opening a pipe would else wait for somebody who writes to it.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0) refuse(std::strerror(errno));
  File file(descriptor, path);
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) refuse(std::strerror(errno));
  if (S_ISDIR(status.st_mode)) refuse("it is a directory");
  if (!S_ISREG(status.st_mode)) refuse("it is no regular file");
  return file;
}

File File::open_or_create(const std::string& path) {
  return {open_retrying(path, O_RDWR | O_CREAT), path};
}

File File::open_to_append(const std::string& path) {
  return {open_retrying(path, O_RDWR | O_CREAT | O_APPEND), path};
}

File::~File() {
  if (is_open()) ::close(descriptor_);
}

void File::fail(const char* call, int error) const { fail_on(path_, call, error); }

/// Moves all of [offset, offset + bytes) by `call`; `ended(offset, bytes)` throws where it moves no
/// more.
template <class Call, class Byte, class Ended>
void File::move(const char* name, Call call, std::uint64_t offset, Byte* data, std::uint64_t bytes,
                const Ended& ended) {
  while (bytes > 0) {
    const auto done =
        call(descriptor_, data, std::min(bytes, largest_transfer), static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail(name, errno);
    if (done == 0) ended(offset, bytes);
    const auto moved = static_cast<std::uint64_t>(done);
    offset += moved;
    data += moved;
    bytes -= moved;
  }
}

void File::write_at(std::uint64_t offset, const std::byte* data, std::uint64_t bytes) {
  // POSIX knows no reason for writing nothing of something; going on would never end.
  move("pwrite", ::pwrite, offset, data, bytes,
       [&](std::uint64_t, std::uint64_t) { fail("pwrite", EIO); });
}

void File::append(const std::byte* data, std::uint64_t bytes) {
  for (;;) {
    const auto done = ::write(descriptor_, data, bytes);
    if (done >= 0 && static_cast<std::uint64_t>(done) == bytes) return;
    if (done >= 0) fail("write", ENOSPC);  // the rest would fail, and others may have appended
    if (errno != EINTR) fail("write", errno);
  }
}

void File::read_at(std::uint64_t offset, std::byte* data, std::uint64_t bytes) {
  move("pread", ::pread, offset, data, bytes, [&](std::uint64_t end, std::uint64_t missing) {
    throw IoError(fmt::format(
        "pread failed on '{}': the file ends at byte {}, {} bytes before the end of the data; it "
        "is truncated, write it again.",
        path_, end, missing));
  });
}

Mapping File::map(std::uint64_t bytes) const {
  if (bytes == 0) return {};
  void* const data = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, descriptor_, 0);
  if (data == MAP_FAILED) fail("mmap", errno);
  return {static_cast<const std::byte*>(data), bytes};
}

Mapping::~Mapping() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), bytes_);
}

std::uint64_t File::size() const {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) fail("fstat", errno);
  return static_cast<std::uint64_t>(status.st_size);
}

void File::resize(std::uint64_t bytes) {
  while (::ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0) {
    if (errno != EINTR) fail("ftruncate", errno);
  }
}

void File::reserve(std::uint64_t offset, std::uint64_t bytes) {
  if (bytes == 0) return;
  while (::fallocate(descriptor_, 0, static_cast<off_t>(offset), static_cast<off_t>(bytes)) != 0) {
    if (errno == EINTR) continue;
    if (errno != EOPNOTSUPP) fail("fallocate", errno);
    if (size() < offset + bytes) resize(offset + bytes);
    return;
  }
}

void File::sync() {
  while (::fsync(descriptor_) != 0) {
    if (errno != EINTR) fail("fsync", errno);
  }
}

File::Lock File::try_lock(bool shared) {
  while (::flock(descriptor_, (shared ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno == EWOULDBLOCK) return Lock::held_by_another;
    // File systems say it in many ways: ENOSYS and ENOLCK (Lustre without the mount option flock),
    // EOPNOTSUPP, or numbers that the C library has no name for, such as 524 of Cray's DVS.
    return Lock::unsupported;
  }
  return Lock::taken;
}

bool File::is_at_its_name() const {
  struct stat here {};
  struct stat there {};
  if (::fstat(descriptor_, &here) != 0) fail("fstat", errno);
  return ::stat(path_.c_str(), &there) == 0 && here.st_dev == there.st_dev &&
         here.st_ino == there.st_ino;
}

void File::close() {
  // Linux frees the descriptor even where close() fails, so it is given up first and not tried
  // again.
  const int descriptor = std::exchange(descriptor_, -1);
  if (descriptor >= 0 && ::close(descriptor) != 0 && errno != EINTR) fail("close", errno);
}

void unlink(const std::string& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) fail_on(path, "unlink", errno);
}

}  // namespace slabmark::posix
