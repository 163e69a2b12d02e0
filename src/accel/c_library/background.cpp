#include "accel/c_library/background.hpp"

#include <utility>

namespace slabmark::rearrange {

void Background::submit(std::function<void()> work, std::uint64_t bytes, Bounds bounds) {
  if (!thread_) thread_ = std::make_unique<WorkerThread>();
  while (!under_way_.empty() && under_way_.front().number <= thread_->completed()) {
    wait_for_oldest();
  }
  const auto is_full = [&] {
    return under_way_.size() >= bounds.flushes ||
           (bounds.bytes > 0 && !under_way_.empty() && bytes_under_way_ + bytes > bounds.bytes);
  };
  while (is_full()) wait_for_oldest();
  under_way_.push_back({thread_->submit(std::move(work)), bytes});
  bytes_under_way_ += bytes;
}

void Background::wait() {
  while (!under_way_.empty()) wait_for_oldest();
}

void Background::wait_for_oldest() {
  thread_->wait(under_way_.front().number);
  bytes_under_way_ -= under_way_.front().bytes;
  under_way_.pop_front();
}

}  // namespace slabmark::rearrange
