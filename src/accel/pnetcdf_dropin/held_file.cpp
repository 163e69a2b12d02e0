#include "accel/pnetcdf_dropin/held_file.hpp"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "storage/posix/file_system.hpp"

namespace slabmark::dropin {

namespace {

// There flock() is another lock than that of fcntl(), with which MPI-IO locks bytes.
bool has_locks_of_its_own(const std::string& path) {
  return posix::locks_file_to_write(path) && posix::unsafe_append_filesystem(path).empty();
}

int lock(int descriptor, int kind) {
  int result = 0;
  do {
    result = ::flock(descriptor, kind);
  } while (result != 0 && errno == EINTR);
  return result;
}

}  // namespace

// The file may be replaced while the lock of the old one is waited for.
HeldFile::HeldFile(const std::string& path) {
  constexpr int attempts = 100;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor_ < 0 || !has_locks_of_its_own(path)) return;
    has_lock_ = lock(descriptor_, LOCK_SH) == 0;
    if (identity_of(path) == identity()) return;
    ::close(std::exchange(descriptor_, -1));
  }
}

HeldFile::~HeldFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

HeldFile::HeldFile(HeldFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), has_lock_(other.has_lock_) {}

HeldFile& HeldFile::operator=(HeldFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(has_lock_, other.has_lock_);
  return *this;
}

bool HeldFile::is_hdf5() const {
  constexpr std::string_view signature = "\x89HDF\r\n\x1a\n";
  std::array<char, signature.size()> begin{};
  return ::pread(descriptor_, begin.data(), begin.size(), 0) ==
             static_cast<ssize_t>(begin.size()) &&
         std::string_view(begin.data(), begin.size()) == signature;
}

struct stat HeldFile::status() const {
  struct stat status {};
  if (descriptor_ < 0 || ::fstat(descriptor_, &status) != 0) return {};
  return status;
}

std::optional<FileIdentity> HeldFile::identity() const {
  const struct stat its = status();
  if (its.st_ino == 0) return std::nullopt;
  return FileIdentity{its.st_dev, its.st_ino};
}

unsigned HeldFile::permissions() const {
  constexpr unsigned all = 07777;
  return status().st_mode & all;
}

std::uint64_t HeldFile::bytes() const { return static_cast<std::uint64_t>(status().st_size); }

bool HeldFile::is_deleted() const { return is_held() && status().st_nlink == 0; }

std::string HeldFile::place() const {
  if (descriptor_ < 0) return "";
  std::error_code none;
  const std::string path =
      std::filesystem::read_symlink(fmt::format("/proc/self/fd/{}", descriptor_), none);
  return !none && identity_of(path) == identity() ? path : "";
}

bool HeldFile::lock_alone() { return !has_lock_ || lock(descriptor_, LOCK_EX | LOCK_NB) == 0; }

bool HeldFile::wait_alone() {
  if (has_lock_) lock(descriptor_, LOCK_EX);
  return !place().empty();
}

void HeldFile::unlock() {
  if (has_lock_) lock(descriptor_, LOCK_UN);
}

}  // namespace slabmark::dropin
