#include "capture/plugin/spool.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

namespace slabmark::capture {

namespace {

std::uint64_t draw_number() {
  std::uint64_t number = 0;
  if (getrandom(&number, sizeof number, GRND_NONBLOCK) == sizeof number) return number;
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  return static_cast<std::uint64_t>(now) ^ static_cast<std::uint64_t>(getpid()) << 40;
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
  // One write for all: other processes of the node append to the same file.
  const ssize_t written = ::write(file_, out_.data(), out_.size());
  const bool whole = written == static_cast<ssize_t>(out_.size());
  if (written >= 0 && !whole) errno = ENOSPC;
  out_.clear();
  return whole;
}

bool Spool::open() {
  constexpr mode_t folder_mode = 0777;
  constexpr mode_t file_mode = 0666;
  if (mkdir(folder_.c_str(), folder_mode) != 0 && errno != EEXIST) return false;
  file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, file_mode);
  return file_ >= 0 && fstat(file_, &opened_) == 0;
}

}  // namespace slabmark::capture
