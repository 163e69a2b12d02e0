#include "storage/posix/direct_file.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <unistd.h>

namespace slabmark::posix {

namespace {

// What a disk is asked for at once where memory must be copied first.
constexpr std::uint64_t copied_at_once = std::uint64_t{8} << 20;

}  // namespace

DirectFile::DirectFile(File& cached, File::Access access)
    : cached_(cached),
      direct_(File::open_direct(cached.path(), access)),
      block_(std::max<std::uint64_t>(4096, static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)))) {
  whole_blocks_.reset(static_cast<std::byte*>(std::aligned_alloc(block_, copied_at_once)));
  if (!whole_blocks_) throw std::bad_alloc();
}

/// Calls cached(offset, data, bytes) for what is no whole block, direct(offset, data, bytes,
/// aligned) for the rest; `aligned`: the memory begins at a block, too.
template <class Byte, class Cached, class Direct>
void DirectFile::split(std::uint64_t offset, Byte* data, std::uint64_t bytes, const Cached& cached,
                       const Direct& direct) {
  const std::uint64_t end = offset + bytes;
  const std::uint64_t first = (offset + block_ - 1) / block_ * block_;
  const std::uint64_t last = end / block_ * block_;
  if (first >= last) {
    cached(offset, data, bytes);
    return;
  }
  cached(offset, data, first - offset);
  Byte* const whole = data + (first - offset);
  const bool aligned = reinterpret_cast<std::uintptr_t>(whole) % block_ == 0;
  const std::uint64_t step = aligned ? last - first : copied_at_once;
  for (std::uint64_t at = first; at < last; at += step) {
    direct(at, data + (at - offset), std::min(step, last - at), aligned);
  }
  direct_bytes_ += last - first;
  cached(last, data + (last - offset), end - last);
}

void DirectFile::write_at(std::uint64_t offset, const std::byte* data, std::uint64_t bytes) {
  split(
      offset, data, bytes,
      [&](std::uint64_t at, const std::byte* from, std::uint64_t n) {
        cached_.write_at(at, from, n);
      },
      [&](std::uint64_t at, const std::byte* from, std::uint64_t n, bool aligned) {
        if (!aligned) std::memcpy(whole_blocks_.get(), from, n);
        direct_.write_at(at, aligned ? from : whole_blocks_.get(), n);
      });
}

void DirectFile::read_at(std::uint64_t offset, std::byte* data, std::uint64_t bytes) {
  split(
      offset, data, bytes,
      [&](std::uint64_t at, std::byte* to, std::uint64_t n) { cached_.read_at(at, to, n); },
      [&](std::uint64_t at, std::byte* to, std::uint64_t n, bool aligned) {
        direct_.read_at(at, aligned ? to : whole_blocks_.get(), n);
        if (!aligned) std::memcpy(to, whole_blocks_.get(), n);
      });
}

}  // namespace slabmark::posix
