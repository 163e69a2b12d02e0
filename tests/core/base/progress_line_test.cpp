#include "core/base/progress_line.hpp"

#include <gtest/gtest.h>

namespace slabmark {
namespace {

TEST(SecondsLeft, AreThoseOfTheStepsThatAreDone) {
  EXPECT_EQ(seconds_left(6.0, 3, 12), 18.0);
  EXPECT_EQ(seconds_left(6.0, 12, 12), 0.0);
  EXPECT_EQ(seconds_left(6.0, 13, 12), 0.0) << "more steps than were expected";
}

TEST(SecondsLeft, AreUnknownBeforeTheFirstStepIsDone) {
  EXPECT_EQ(seconds_left(6.0, 0, 12), std::nullopt);
}

TEST(SecondsLeft, ReadAsPeopleSayThem) {
  EXPECT_EQ(text_of_seconds_left(0.0), "about 1 s left");
  EXPECT_EQ(text_of_seconds_left(40.4), "about 40 s left");
  EXPECT_EQ(text_of_seconds_left(720.0), "about 12 min left");
  EXPECT_EQ(text_of_seconds_left(9000.0), "about 2.5 h left");
}

}  // namespace
}  // namespace slabmark
