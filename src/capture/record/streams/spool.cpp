#include "capture/record/streams/spool.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <ctime>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

namespace slabmark::capture {

namespace {

constexpr mode_t file_mode = 0666;

std::uint64_t draw_number() {
  std::uint64_t number = 0;
  if (getrandom(&number, sizeof number, GRND_NONBLOCK) == sizeof number) return number;
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  return static_cast<std::uint64_t>(now) ^ static_cast<std::uint64_t>(getpid()) << 40;
}

/// While it lives, what goes beyond the process's limit for the size of a file (RLIMIT_FSIZE) fails
/// as on a full disk: the signal that comes with it would end the program.
class NoSignalOfSize {
 public:
  NoSignalOfSize() {
    sigset_t pending;
    sigpending(&pending);
    is_programs_ = sigismember(&pending, SIGXFSZ) == 1;
    sigemptyset(&signal_);
    sigaddset(&signal_, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &signal_, &before_);
  }
  ~NoSignalOfSize() {
    const int kept = errno;
    const timespec at_once{};
    while (!is_programs_ && sigtimedwait(&signal_, nullptr, &at_once) < 0 && errno == EINTR) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = kept;
  }
  NoSignalOfSize(const NoSignalOfSize&) = delete;
  NoSignalOfSize& operator=(const NoSignalOfSize&) = delete;

 private:
  sigset_t signal_, before_;
  bool is_programs_;  ///< one that waits already
};

/// In one write, since other processes of the node append to the same file. The rest goes in
/// another, which says why. False, with errno.
bool append(int file, std::span<const std::uint8_t> bytes) {
  const NoSignalOfSize quiet;
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written > 0) bytes = bytes.subspan(static_cast<std::size_t>(written));
    if (written == 0) errno = ENOSPC;
    if (written == 0 || (written < 0 && errno != EINTR)) return false;
  }
  return true;
}

}  // namespace

Spool::Spool(const std::string& pattern)
    : folder_(pattern + spool_folder_ending), process_(draw_number()) {
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) host = {"unknown"};
  path_ = folder_ + "/" + host.data() + spool_file_ending;
}

void Spool::add(Stream stream, Bytes& bytes) {
  constexpr std::size_t most = std::size_t{1} << 30;  // what one write takes is less than 2 GiB
  for (std::size_t at = 0; at < bytes.size(); at += most) {
    const std::size_t part = std::min(most, bytes.size() - at);
    if (!out_.empty() && out_.size() + part > most) whole_ = write() && whole_;
    SpoolFrame frame;
    std::memcpy(frame.magic, spool_magic, sizeof frame.magic);
    frame.process = process_;
    frame.number = frames_++;
    frame.stream = static_cast<std::uint32_t>(stream);
    frame.bytes = static_cast<std::uint32_t>(part);
    frame.checksum = frame.checksum_of(std::as_bytes(std::span(bytes).subspan(at, part)));
    const auto* const begin = reinterpret_cast<const std::uint8_t*>(&frame);
    out_.insert(out_.end(), begin, begin + sizeof frame);
    out_.insert(out_.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at),
                bytes.begin() + static_cast<std::ptrdiff_t>(at + part));
  }
  bytes.clear();
}

bool Spool::write() {
  if (out_.empty() || !whole_) return whole_;
  // Programs close all descriptors that they do not know, and may get the number for a file.
  struct stat now {};
  const bool is_there = file_ >= 0 && fstat(file_, &now) == 0 && now.st_ino == opened_.st_ino &&
                        now.st_dev == opened_.st_dev;
  if (!is_there && !open()) return false;
  if (is_there && now.st_nlink == 0) {  // who removed it would not find what is written now
    errno = ENOENT;
    return false;
  }
  const bool whole = append(file_, out_);
  out_.clear();
  return whole;
}

std::atomic<std::uint64_t>* Spool::calls_of_children() {
  using Count = std::atomic<std::uint64_t>;
  static_assert(Count::is_always_lock_free && sizeof(Count) == sizeof(std::uint64_t));
  if (!make_folder()) return nullptr;
  const NoSignalOfSize quiet;
  const int file = ::open(path_of_children().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, file_mode);
  if (file < 0) return nullptr;
  // Space is taken now: a disk that is full later must not end the child by a signal.
  void* const shared =
      posix_fallocate(file, 0, sizeof(Count)) == 0
          ? mmap(nullptr, sizeof(Count), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
          : MAP_FAILED;
  ::close(file);
  return shared == MAP_FAILED ? nullptr : static_cast<Count*>(shared);
}

bool Spool::has_calls_of_children() const { return access(path_of_children().c_str(), F_OK) == 0; }

std::string Spool::path_of_children() const {
  return folder_ + "/" + std::to_string(process_) + spool_children_ending;
}

bool Spool::make_folder() const {
  constexpr mode_t folder_mode = 0777;
  return mkdir(folder_.c_str(), folder_mode) == 0 || errno == EEXIST;
}

bool Spool::open() {
  if (!make_folder()) return false;
  file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, file_mode);
  return file_ >= 0 && fstat(file_, &opened_) == 0;
}

}  // namespace slabmark::capture
