#include "parallel/deadline.hpp"

#include <fmt/format.h>

#include "parallel/abort.hpp"

namespace slabmark {

Deadline::Deadline(double seconds) : seconds_(seconds) {
  if (seconds_ > 0) thread_ = std::thread([this] { run(); });
}

Deadline::~Deadline() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Deadline::watch(const std::string& work) {
  if (seconds_ <= 0) return;
  {
    const std::lock_guard lock(mutex_);
    work_ = work;
    expires_ = std::chrono::steady_clock::now() +
               std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                   std::chrono::duration<double>(seconds_));
  }
  changed_.notify_one();
}

void Deadline::run() {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    if (work_.empty()) {
      changed_.wait(lock);
    } else if (changed_.wait_until(lock, expires_) == std::cv_status::timeout && !stop_ &&
               !work_.empty() && std::chrono::steady_clock::now() >= expires_) {
      // From this thread MPI may not be called at every thread level; abort_job's MPI_Abort is the
      // one call that every implementation in use survives, and _Exit follows it.
      abort_job(fmt::format(
          "{} has taken more than {} seconds and is taken to hang; --deadline sets the limit.",
          work_, seconds_));
    }
  }
}

}  // namespace slabmark
