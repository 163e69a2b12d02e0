#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "core/parallel/abort.hpp"

namespace slabmark {

/// Watches for what hangs: if a watched stretch of work lasts longer than the limit, the job is
/// ended with a message that names the work, and with exit status 1.
class Deadline {
 public:
  using EndJob = std::function<void(const std::string& message)>;

  /// 0 seconds: no limit. `end_job` takes the place of abort_job(); it runs on a thread of its own.
  explicit Deadline(double seconds, EndJob end_job = abort_job);
  ~Deadline();
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

  /// From here `work` is watched, until the next call. An empty text stops watching.
  void watch(const std::string& work);

 private:
  void run();

  const double seconds_;
  const std::chrono::steady_clock::duration limit_;
  const EndJob end_job_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string work_;
  std::chrono::steady_clock::time_point expires_{};
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace slabmark
