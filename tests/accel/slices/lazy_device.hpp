#pragma once

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <sys/mman.h>
#include <utility>

#include <gtest/gtest.h>

#include "accel/slices/device.hpp"
#include "core/base/error.hpp"

namespace slabmark::slice {

/// A device that stands in for a GPU: it does nothing before it is waited for, so that what the
/// library does not wait for is missing in its files; and its memory cannot be touched by anybody
/// else, who would crash.
class LazyDevice : public Device {
 public:
  ~LazyDevice() override { EXPECT_TRUE(memory_.empty()) << "memory was not released"; }

  std::byte* allocate(std::uint64_t bytes) override {
    void* memory = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw IoError("The test's device has no memory left.");
    memory_[static_cast<std::byte*>(memory)] = bytes;
    return static_cast<std::byte*>(memory);
  }
  void release(std::byte* memory) noexcept override {
    munmap(memory, memory_.at(memory));
    memory_.erase(memory);
  }
  std::byte* allocate_pinned(std::uint64_t bytes) override { return new std::byte[bytes]; }
  void release_pinned(std::byte* memory) noexcept override { delete[] memory; }

  void gather(const void* source, ElementType from, const Points& points, std::byte* target,
              ElementType to, std::uint64_t pitch) override {
    bytes_out += points.rows * points.columns * size_of(to);
    work_.push_back([=] { slice::gather(source, from, points, target, to, pitch); });
  }
  void copy_in(const std::byte* from, std::uint64_t bytes, std::byte* to) override {
    touch(PROT_READ | PROT_WRITE);
    std::memcpy(to, from, bytes);
    touch(PROT_NONE);
  }

  std::uint64_t mark() override { return done_ + work_.size(); }
  void wait(std::uint64_t mark) override {
    if (++waits == failing_wait) throw IoError("The test's device has failed.");
    most_waiting = std::max<std::uint64_t>(most_waiting, done_ + work_.size() - mark);
    touch(PROT_READ | PROT_WRITE);
    for (; done_ < mark; ++done_) {
      work_.front()();
      work_.pop_front();
    }
    touch(PROT_NONE);
  }

  std::uint64_t bytes_out = 0;
  std::uint64_t waits = 0;
  std::uint64_t failing_wait = 0;  ///< the number of the wait that fails; 0: none
  std::uint64_t most_waiting = 0;  ///< what was begun beyond what was waited for, at most

 private:
  void touch(int protection) {
    for (const auto& [memory, bytes] : memory_) mprotect(memory, bytes, protection);
  }

  std::map<std::byte*, std::uint64_t> memory_;
  std::deque<std::function<void()>> work_;
  std::uint64_t done_ = 0;
};

}  // namespace slabmark::slice
