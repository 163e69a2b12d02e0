#include "core/base/command.hpp"

#include <gtest/gtest.h>

namespace slabmark {
namespace {

TEST(RunCommand, GivesTheOutputAndTheExitStatus) {
  const auto answer = run_command({"sh", "-c", "echo out; echo err >&2; exit 3"});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 3);
  EXPECT_EQ(answer->output, "out\n");
}

TEST(RunCommand, TakesStandardErrorAlongIfAskedTo) {
  EXPECT_EQ(run_command({"sh", "-c", "echo err >&2"}, true)->output, "err\n");
}

TEST(RunCommand, HandsWordsOverAsTheyAre) {
  EXPECT_EQ(run_command({"printf", "%s", "a;b $(c) 'd"})->output, "a;b $(c) 'd");
}

TEST(RunCommand, ThatDoesNotExistGivesNothingOrStatus127) {
  const auto answer = run_command({"slabmark-no-such-command"});
  EXPECT_TRUE(!answer || answer->status == 127);
}

}  // namespace
}  // namespace slabmark
