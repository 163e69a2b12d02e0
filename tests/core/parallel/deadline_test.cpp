#include "core/parallel/deadline.hpp"

#include <chrono>
#include <future>
#include <string>

#include <gtest/gtest.h>

namespace slabmark {
namespace {

/// A deadline that tells a test what it would have ended the job with.
struct Told {
  explicit Told(double seconds)
      : deadline(seconds, [this](const std::string& told) { promise.set_value(told); }) {}

  bool has_expired() {
    return message.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  }

  std::promise<std::string> promise;
  std::future<std::string> message = promise.get_future();
  Deadline deadline;
};

TEST(Deadlines, EndTheJobWithTheNameOfWhatHangsAndTheOptionThatHelps) {
  Told told(0.01);
  told.deadline.watch("Phase flush");
  const std::string message = told.message.get();
  EXPECT_EQ(message.find("Phase flush has taken more than 0.01 seconds"), 0u) << message;
  EXPECT_NE(message.find("--deadline"), std::string::npos) << message;
}

TEST(Deadlines, WatchTheLastOfSeveralStretchesOfWork) {
  Told told(1);
  told.deadline.watch("Phase post");
  told.deadline.watch("Phase flush");
  EXPECT_EQ(told.message.get().find("Phase flush"), 0u);
}

TEST(Deadlines, LeaveAloneWhatHasEnded) {
  Told ended(1);
  Told later(1);
  ended.deadline.watch("Phase flush");
  ended.deadline.watch("");
  later.deadline.watch("Phase close");
  later.message.wait();
  EXPECT_FALSE(ended.has_expired());
}

TEST(Deadlines, WithoutALimitWatchNothing) {
  Told unlimited(0);
  unlimited.deadline.watch("Phase flush");
  Told other(0.01);
  other.deadline.watch("Phase close");
  other.message.wait();
  EXPECT_FALSE(unlimited.has_expired());
}

TEST(Deadlines, BeyondWhatTheClockCanHoldNeverExpire) {
  Told endless(1e300);
  endless.deadline.watch("Phase flush");
  Told other(0.01);
  other.deadline.watch("Phase close");
  other.message.wait();
  EXPECT_FALSE(endless.has_expired());
}

TEST(Deadlines, AreOverWithTheirObject) {
  Told told(3600);
  told.deadline.watch("Phase flush");
}

}  // namespace
}  // namespace slabmark
