#include "bench/measure/record_gather.hpp"

#include <gtest/gtest.h>

#include "core/base/host_name.hpp"

namespace slabmark {
namespace {

/// Adds one part of a phase, as PhaseClock::time() does.
void spend(RankTimes& times, Phase phase, double seconds) {
  times.phase[static_cast<std::size_t>(phase)] += seconds;
  times.parts.push_back({phase, seconds});
}

TEST(GatheredTrials, SummariseTheRanksOwnSeconds) {
  const Comm comm(MPI_COMM_WORLD);
  const double rank = comm.rank();
  const double last = comm.size() - 1;
  RankTimes times;
  spend(times, Phase::create, 1.0);
  spend(times, Phase::post, 1.0 + rank);
  times.open_to_close = 100.0 + rank;
  const TrialRecord trial = gather_trial(comm, times);
  if (!comm.is_root()) {
    EXPECT_TRUE(trial.phases.empty());
    EXPECT_EQ(trial.open_to_close, 0.0);
    return;
  }
  EXPECT_EQ(trial.open_to_close, 100.0 + last);
  const RankSummary& post = trial.phases.at(Phase::post).ranks;
  EXPECT_EQ(post.ranks, static_cast<std::uint64_t>(comm.size()));
  EXPECT_EQ(post.min, 1.0);
  EXPECT_EQ(post.mean, 1.0 + last / 2.0);
  EXPECT_EQ(post.max, 1.0 + last);
  EXPECT_EQ(post.slowest, static_cast<std::uint64_t>(last));
  EXPECT_EQ(post.slowest_host, host_name());
  EXPECT_EQ(trial.busy.max, 2.0 + last);
  EXPECT_EQ(trial.open_to_close_ranks.min, 100.0);
  EXPECT_EQ(trial.open_to_close_ranks.max, 100.0 + last);
  EXPECT_FALSE(trial.phases.contains(Phase::flush)) << "no rank spent time in it";
}

TEST(GatheredTrials, ChargeEachPartOfAPhaseWithItsOwnSlowestRank) {
  const Comm comm(MPI_COMM_WORLD);
  const bool is_last = comm.rank() == comm.size() - 1;
  RankTimes times;
  spend(times, Phase::post, comm.is_root() ? 3.0 : 1.0);
  spend(times, Phase::flush, 0.25);
  spend(times, Phase::post, is_last ? 5.0 : 1.0);
  const TrialRecord trial = gather_trial(comm, times);
  if (!comm.is_root()) return;
  EXPECT_EQ(trial.seconds(Phase::post), 8.0) << "3 s until the second part may begin, then 5 s";
  EXPECT_EQ(trial.phases.at(Phase::post).ranks.max, comm.size() == 1 ? 8.0 : 6.0);
  EXPECT_EQ(trial.transfer(), 8.25);
}

TEST(GatheredTrials, TellWhatAgreementsTookFromRanksThatWaitForOneAnother) {
  const Comm comm(MPI_COMM_WORLD);
  const bool is_last = comm.rank() == comm.size() - 1;
  RankTimes times;
  times.parts = {{Phase::create, 0.5, 0.75}, {Phase::post, is_last ? 8.0 : 2.0, 8.125}};
  times.open_to_close = 9.0;
  const TrialRecord trial = gather_trial(comm, times);
  if (!comm.is_root()) return;
  // Behind create and post 0.25 s and 0.125 s, in which the last rank had come, too; 0.125 s in no
  // part. The 6 s of the others are the post of the last.
  EXPECT_EQ(trial.agreements, 0.5);
}

TEST(GatheredTrials, AddUpEachRanksOwnTransferBeforeTheyCompareRanks) {
  const Comm comm(MPI_COMM_WORLD);
  const bool is_last = comm.rank() == comm.size() - 1;
  RankTimes times;
  spend(times, Phase::create, 16.0);
  spend(times, Phase::prepare, is_last ? 1.0 : 4.0);
  spend(times, Phase::post, is_last ? 4.0 : 1.0);
  spend(times, Phase::flush, 0.5);
  const TrialRecord trial = gather_trial(comm, times);
  if (!comm.is_root()) return;
  EXPECT_EQ(trial.transfer_ranks.min, 5.5);
  EXPECT_EQ(trial.transfer_ranks.max, 5.5) << "not the 8.5 s of two different ranks' maxima";
  EXPECT_EQ(trial.transfer_ranks.variance, 0.0);
}

TEST(GatheredTrials, SplitTheRankThatIsSlowestInAllAndNotTheMaximaOfThePhases) {
  const Comm comm(MPI_COMM_WORLD);
  const bool is_last = comm.rank() == comm.size() - 1;
  RankTimes times;
  spend(times, Phase::prepare, is_last ? 1.0 : 4.0);
  spend(times, Phase::post, is_last ? 9.0 : 2.0);
  const TrialRecord trial = gather_trial(comm, times);
  if (!comm.is_root()) return;
  EXPECT_EQ(trial.busy.slowest, static_cast<std::uint64_t>(comm.size() - 1));
  EXPECT_EQ(trial.slowest_split.at(Phase::prepare), 1.0);
  EXPECT_EQ(trial.slowest_split.at(Phase::post), 9.0);
  EXPECT_EQ(trial.seconds(Phase::prepare), comm.size() == 1 ? 1.0 : 4.0);
}

TEST(GatheredTrials, CountARankWithoutASpanAsZeroSeconds) {
  const Comm comm(MPI_COMM_WORLD);
  const bool is_last = comm.rank() == comm.size() - 1;
  RankTimes times;
  spend(times, Phase::create, 8.0);
  if (is_last) times.spans["create.reopen"] = 4.0;
  if (comm.is_root()) times.spans["create.precreate"] = 2.0;
  const TrialRecord trial = gather_trial(comm, times);
  if (!comm.is_root()) return;
  ASSERT_EQ(trial.spans.size(), 2u);
  EXPECT_EQ(trial.spans.at("create.reopen").max, 4.0);
  EXPECT_EQ(trial.spans.at("create.reopen").mean, 4.0 / comm.size());
  EXPECT_EQ(trial.spans.at("create.reopen").slowest, static_cast<std::uint64_t>(comm.size() - 1));
  EXPECT_EQ(trial.spans.at("create.precreate").slowest, 0u);
}

TEST(GatheredTrials, FollowARealClock) {
  const Comm comm(MPI_COMM_WORLD);
  PhaseClock clock(comm);
  clock.time(Phase::post, [] {});
  clock.time(Phase::post, [] {});
  clock.time(Phase::flush, [] {});
  EXPECT_EQ(clock.times().parts.size(), 3u);
  const TrialRecord trial = gather_trial(comm, clock.times());
  if (!comm.is_root()) return;
  EXPECT_GE(trial.seconds(Phase::post), trial.phases.at(Phase::post).ranks.max);
  EXPECT_GT(trial.agreements, 0.0);
  EXPECT_LE(trial.agreements, trial.open_to_close);
  EXPECT_GE(trial.overhead(), 0.0) << "parts do not overlap, so they cannot exceed open-to-close";
}

TEST(GatheredDifferences, NameTheLowestRankThatDepartsFromRoot) {
  const Comm comm(MPI_COMM_WORLD);
  Json effective = {{"hints", {{"cb_nodes", "1"}}}, {"collective", true}};
  if (comm.rank() >= 1) effective["hints"]["cb_nodes"] = "2";
  const Json differences = gather_differences(comm, effective);
  Json expected = Json::array();
  if (comm.is_root() && comm.size() > 1) {
    expected.push_back({{"path", "/hints/cb_nodes"}, {"rank", 1}, {"value", "2"}});
  }
  EXPECT_EQ(differences, expected);
}

TEST(GatheredNumbers, AreSummarisedWithTheHostOfTheGreatest) {
  const Comm comm(MPI_COMM_WORLD);
  const RankSummary numbers = gather_summary(comm, 1.0 + comm.rank());
  if (!comm.is_root()) return;
  EXPECT_EQ(numbers.ranks, static_cast<std::uint64_t>(comm.size()));
  EXPECT_EQ(numbers.min, 1.0);
  EXPECT_EQ(numbers.max, comm.size());
  EXPECT_EQ(numbers.slowest_host, host_name());
}

}  // namespace
}  // namespace slabmark
