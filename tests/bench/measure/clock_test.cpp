#include "bench/measure/clock.hpp"

#include <chrono>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "bench/measure/record_gather.hpp"
#include "core/base/error.hpp"

namespace slabmark {
namespace {

using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

double seconds_since(steady::time_point start) {
  return std::chrono::duration<double>(steady::now() - start).count();
}

// These compare durations of one run with one another (what was slept is a lower bound by the
// standard); none asserts that something was fast.

TEST(PhaseClock, TimeInAPhaseAddsUpAndOthersStayZero) {
  const Comm comm(MPI_COMM_WORLD);
  PhaseClock clock(comm);
  clock.time(Phase::post, [] { std::this_thread::sleep_for(2ms); });
  clock.time(Phase::post, [] { std::this_thread::sleep_for(2ms); });
  EXPECT_GE(clock.times()[Phase::post], 0.004);
  EXPECT_EQ(clock.times()[Phase::flush], 0.0);
}

// A machine may stop any rank for a while, so one of several attempts must show it.
TEST(PhaseClock, ARankThatIsFastIsNotChargedForWaiting) {
  const Comm comm(MPI_COMM_WORLD);
  if (comm.size() == 1) GTEST_SKIP() << "needs several ranks";
  bool not_charged = false;
  for (int attempt = 0; attempt < 10 && !not_charged; ++attempt) {
    PhaseClock clock(comm);
    clock.time(Phase::flush, [&] {
      if (comm.rank() == 1) std::this_thread::sleep_for(200ms);
    });
    const double slow = comm.max(clock.times()[Phase::flush]);
    EXPECT_GE(slow, 0.2);
    EXPECT_GE(comm.max(clock.times().open_to_close), slow)
        << "the pass ends when the slowest rank ends";
    const double others = comm.max(comm.rank() == 1 ? 0.0 : clock.times()[Phase::flush]);
    not_charged = others < slow - 0.1;
  }
  EXPECT_TRUE(not_charged);
}

TEST(PhaseClock, APartLastsUntilAllRanksHaveEndedIt) {
  const Comm comm(MPI_COMM_WORLD);
  PhaseClock clock(comm);
  const bool is_last = comm.rank() == comm.size() - 1;
  clock.time(Phase::post, [&] {
    if (is_last) std::this_thread::sleep_for(100ms);
  });
  ASSERT_EQ(clock.times().parts.size(), 1u);
  const PhasePart& part = clock.times().parts.front();
  EXPECT_GE(part.until_all, part.seconds);
  EXPECT_GE(comm.max(part.until_all), 0.1);
  const TrialRecord trial = gather_trial(comm, clock.times());
  if (!comm.is_root()) return;
  EXPECT_GE(trial.phases.at(Phase::post).until_all, 0.1);
}

TEST(PhaseClock, TimesOfSeveralPassesAddUp) {
  RankTimes sum;
  for (const double seconds : {1.0, 2.0}) {
    RankTimes pass;
    pass.phase[static_cast<std::size_t>(Phase::post)] = seconds;
    pass.spans["post.pwrite"] = seconds / 2;
    pass.open_to_close = seconds + 1.0;
    pass.parts.push_back({Phase::post, seconds, seconds});
    sum += pass;
  }
  EXPECT_EQ(sum[Phase::post], 3.0);
  EXPECT_EQ(sum.spans.at("post.pwrite"), 1.5);
  EXPECT_EQ(sum.open_to_close, 5.0);
  EXPECT_EQ(sum.parts.size(), 2u);
}

TEST(PhaseClock, OpenToCloseCoversThePhasesAndLeavesPausesOut) {
  const Comm comm(MPI_COMM_WORLD);
  const auto start = steady::now();
  PhaseClock clock(comm);
  clock.time(Phase::create, [] { std::this_thread::sleep_for(2ms); });
  const double before = clock.times().open_to_close;
  double paused = 0;
  clock.pause([&] {
    const auto pause = steady::now();
    std::this_thread::sleep_for(20ms);
    paused = seconds_since(pause);
  });
  EXPECT_EQ(clock.times().open_to_close, before);
  clock.time(Phase::close, [] { std::this_thread::sleep_for(2ms); });
  const double all = seconds_since(start);
  const RankTimes& times = clock.times();
  EXPECT_GE(times.open_to_close, times[Phase::create] + times[Phase::close]);
  EXPECT_LE(times.open_to_close + paused, all);
}

TEST(PhaseClock, ASpanIsNamedAfterItsPhase) {
  const Comm comm(MPI_COMM_WORLD);
  PhaseClock clock(comm);
  clock.time(Phase::create,
             [&] { clock.span("reopen", [] { std::this_thread::sleep_for(1ms); }); });
  ASSERT_EQ(clock.times().spans.size(), 1u);
  EXPECT_EQ(clock.times().spans.begin()->first, "create.reopen");
  EXPECT_LE(clock.times().spans.begin()->second, clock.times()[Phase::create]);
}

TEST(PhaseClock, AFailureOfOneRankIsThrownOnAll) {
  const Comm comm(MPI_COMM_WORLD);
  PhaseClock clock(comm);
  const int last = comm.size() - 1;
  EXPECT_THROW(clock.time(Phase::post,
                          [&] {
                            if (comm.rank() == last) throw IoError("The disk is full.");
                          }),
               Error);
}

}  // namespace
}  // namespace slabmark
