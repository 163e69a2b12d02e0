#include "core/parallel/worker_thread.hpp"

#include <memory>
#include <pthread.h>
#include <sched.h>

#include "core/base/error.hpp"

namespace slabmark {

WorkerThread::WorkerThread() : thread_([this] { run(); }) {}

WorkerThread::~WorkerThread() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

// A thread that has slept may take the core of the one who wakes it, for milliseconds: who submits
// would stand still though another core is idle. One for batches waits for a core.
void WorkerThread::leave_cores_to_others() {
  const sched_param no_priority{};
  pthread_setschedparam(pthread_self(), SCHED_BATCH, &no_priority);  // else it is as it was
}

void WorkerThread::run() {
  leave_cores_to_others();
  // In any way out of the thread, its cancellation too.
  const std::shared_ptr<void> note(nullptr, [this](void*) {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  });
  for (;;) {
    std::function<void()> work;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return stop_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      work = std::move(waiting_.front());
      waiting_.pop_front();
    }
    try {
      work();
    } catch (const std::exception&) {  // not "...": a cancellation must go through
      const std::lock_guard lock(mutex_);
      failure_ = std::current_exception();
      waiting_.clear();
      return;
    }
    {
      const std::lock_guard lock(mutex_);
      ++completed_;
    }
    changed_.notify_all();
  }
}

// The mutex is held.
void WorkerThread::throw_failure() {
  if (failure_) std::rethrow_exception(failure_);
  if (ended_) {
    throw IoError(
        "The thread that writes ended before its work was done; what was written before is "
        "whole, start the output anew.");
  }
}

std::uint64_t WorkerThread::submit(std::function<void()> work) {
  std::uint64_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    throw_failure();
    waiting_.push_back(std::move(work));
    number = ++submitted_;
  }
  changed_.notify_all();
  return number;
}

void WorkerThread::wait(std::uint64_t number) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return completed_ >= number || ended_; });
  if (completed_ < number) throw_failure();
}

void WorkerThread::check() {
  const std::lock_guard lock(mutex_);
  throw_failure();
}

std::uint64_t WorkerThread::completed() {
  const std::lock_guard lock(mutex_);
  return completed_;
}

}  // namespace slabmark
