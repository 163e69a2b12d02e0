#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace slabmark {

/// A thread that does one piece of work after another. What is submitted may call MPI only where
/// that allows calls from several threads, and no file library. After a failure nothing more is
/// begun, and every later call here throws what the work threw.
class WorkerThread {
 public:
  WorkerThread();
  ~WorkerThread();  ///< after the work that is waiting
  WorkerThread(const WorkerThread&) = delete;
  WorkerThread& operator=(const WorkerThread&) = delete;

  /// Returns the number of the work, from 1.
  std::uint64_t submit(std::function<void()> work);

  /// Returns when work `number` and all before it are done; 0 is always done.
  void wait(std::uint64_t number);

  /// Throws if something failed.
  void check();

  /// How many pieces of work were done without failure.
  std::uint64_t completed();

  std::thread::native_handle_type handle() { return thread_.native_handle(); }

 private:
  static void leave_cores_to_others();
  void run();
  void throw_failure();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  std::uint64_t submitted_ = 0;
  std::uint64_t completed_ = 0;
  bool stop_ = false;
  bool ended_ = false;
  std::exception_ptr failure_;
  std::thread thread_;
};

}  // namespace slabmark
