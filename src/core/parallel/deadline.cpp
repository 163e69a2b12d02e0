#include "core/parallel/deadline.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace slabmark {

namespace {

// Beyond it the clock's own time would overflow.
constexpr double century = 100 * 365.0 * 24 * 3600;

}  // namespace

Deadline::Deadline(double seconds, EndJob end_job)
    : seconds_(seconds),
      limit_(std::chrono::duration_cast<std::chrono::steady_clock::duration>(
          std::chrono::duration<double>(std::min(seconds, century)))),
      end_job_(std::move(end_job)) {
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

// Nobody is woken: phases may last microseconds, and the thread would take a core from the ranks.
void Deadline::watch(const std::string& work) {
  if (seconds_ <= 0) return;
  const auto expires = std::chrono::steady_clock::now() + limit_;
  const std::lock_guard lock(mutex_);
  work_ = work;
  expires_ = expires;
}

void Deadline::run() {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    const auto now = std::chrono::steady_clock::now();
    if (!work_.empty() && now >= expires_) {
      // From this thread MPI may not be called at every thread level; abort_job's MPI_Abort is the
      // one call that every implementation in use survives, and _Exit follows it.
      end_job_(fmt::format(
          "{} has taken more than {} seconds and is taken to hang; --deadline sets the limit.",
          work_, seconds_));
      work_.clear();
    }
    // Work that begins while this sleeps expires later than what it sleeps for.
    changed_.wait_until(lock, work_.empty() ? now + limit_ : expires_);
  }
}

}  // namespace slabmark
