#include "core/parallel/worker_thread.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <pthread.h>
#include <sched.h>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace slabmark {
namespace {

TEST(WorkerThread, DoesAllWorkInOrder) {
  std::vector<int> done;
  {
    WorkerThread thread;
    for (int i = 0; i < 100; ++i) thread.submit([&done, i] { done.push_back(i); });
    thread.wait(100);
    EXPECT_EQ(thread.completed(), 100U);
    thread.submit([&done] { done.push_back(100); });
  }
  ASSERT_EQ(done.size(), 101U);
  EXPECT_TRUE(std::is_sorted(done.begin(), done.end()));
}

TEST(WorkerThread, TakesNoCoreFromTheOneWhoWakesIt) {
  WorkerThread thread;
  int policy = SCHED_OTHER;
  sched_param ignored{};
  thread.wait(thread.submit([&] { pthread_getschedparam(pthread_self(), &policy, &ignored); }));
  EXPECT_EQ(policy, SCHED_BATCH);
}

TEST(WorkerThread, DeliversAFailureAtEveryLaterCallAndBeginsNothingMore) {
  WorkerThread thread;
  std::atomic<int> later = 0;
  thread.submit([] {});
  const auto failing = thread.submit([] { throw IoError("The disk is full."); });
  EXPECT_THROW(thread.wait(failing), IoError);
  EXPECT_THROW(thread.submit([&] { ++later; }), IoError);
  EXPECT_THROW(thread.check(), IoError);
  EXPECT_EQ(thread.completed(), 1U);
  EXPECT_NO_THROW(thread.wait(1)) << "what was done before the failure stays done";
  EXPECT_EQ(later, 0);
}

TEST(WorkerThread, ThatIsKilledIsAnErrorInTheCaller) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP()
      << "ThreadSanitizer does not see that a cancelled thread takes the lock while it ends";
#endif
  WorkerThread thread;
  thread.wait(thread.submit([] {}));
  std::atomic<bool> begun = false;
  const auto killed = thread.submit([&] {
    begun = true;
    for (;;) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
  while (!begun) std::this_thread::yield();
  pthread_cancel(thread.handle());
  EXPECT_THROW(thread.wait(killed), IoError);
  EXPECT_THROW(thread.submit([] {}), IoError);
  EXPECT_EQ(thread.completed(), 1U);
}

}  // namespace
}  // namespace slabmark
