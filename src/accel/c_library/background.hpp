#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>

#include "core/parallel/worker_thread.hpp"

namespace slabmark::rearrange {

/// A thread that moves flushes while the program goes on, one after another.
class Background {
 public:
  /// Bounds of what is under way; 0 bytes: none.
  struct Bounds {
    std::uint64_t flushes, bytes;
  };

  /// Has `work`, which does not throw, done by the thread. Waits while more than the bounds would
  /// be under way.
  void submit(std::function<void()> work, std::uint64_t bytes, Bounds bounds);
  void wait();
  /// Ends the thread, after the work that it has.
  void end() { thread_.reset(); }

 private:
  struct UnderWay {
    std::uint64_t number, bytes;
  };
  void wait_for_oldest();

  std::deque<UnderWay> under_way_;
  std::uint64_t bytes_under_way_ = 0;
  std::unique_ptr<WorkerThread> thread_;  ///< made when first needed
};

}  // namespace slabmark::rearrange
