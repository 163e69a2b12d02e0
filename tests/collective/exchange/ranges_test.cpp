#include "collective/exchange/ranges.hpp"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace slabmark {
namespace {

std::uint64_t unsigned_rank(const Comm& comm) { return static_cast<std::uint64_t>(comm.rank()); }
std::uint64_t unsigned_size(const Comm& comm) { return static_cast<std::uint64_t>(comm.size()); }

/// How often each element occurs in the runs.
std::vector<int> multiplicity(const RunList& runs, std::uint64_t total) {
  std::vector<int> times(total, 0);
  for (const Run& run : runs) {
    for (std::uint64_t i = run.offset; i < run.end(); ++i) ++times[i];
  }
  return times;
}

/// Sorted runs of any rank, known to all ranks; those of one rank may overlap if `overlapping`.
RunList runs_of_rank(int rank, int trial, std::uint64_t total, bool overlapping) {
  std::mt19937_64 random(static_cast<std::uint64_t>(1000 * trial + rank));
  RunList runs;
  std::uint64_t at = random() % 20;
  while (at < total) {
    const std::uint64_t length = std::min(1 + random() % 30, total - at);
    runs.push_back({at, length});
    at += overlapping ? 1 + random() % 20 : length + random() % 20;
  }
  return runs;
}

void expect_all_elements_at_their_owner(const Comm& comm, int trial, std::uint64_t total,
                                        bool overlapping) {
  std::vector<int> expected(total, 0);
  for (int r = 0; r < comm.size(); ++r) {
    const auto times = multiplicity(runs_of_rank(r, trial, total, overlapping), total);
    for (std::uint64_t i = 0; i < total; ++i) expected[i] += times[i];
  }
  const Run mine = equal_range(total, unsigned_rank(comm), unsigned_size(comm));
  for (std::uint64_t i = 0; i < total; ++i) {
    if (i < mine.offset || i >= mine.end()) expected[i] = 0;
  }
  const RunList found =
      runs_in_my_range(comm, runs_of_rank(comm.rank(), trial, total, overlapping), total);
  EXPECT_EQ(multiplicity(found, total), expected) << "trial " << trial;
  EXPECT_TRUE(std::is_sorted(found.begin(), found.end(),
                             [](const Run& a, const Run& b) { return a.offset < b.offset; }));
}

TEST(RunsInMyRange, AreThoseOfAllRanksCutAtItsBounds) {
  const Comm comm(MPI_COMM_WORLD);
  for (int trial = 0; trial < 20; ++trial) {
    expect_all_elements_at_their_owner(comm, trial, 50 + static_cast<std::uint64_t>(trial) * 37,
                                       false);
  }
}

TEST(RunsInMyRange, KeepOverlapsWithinARankAndBetweenRanks) {
  const Comm comm(MPI_COMM_WORLD);
  for (int trial = 0; trial < 20; ++trial) {
    expect_all_elements_at_their_owner(comm, 100 + trial, 700, true);
  }
}

TEST(RunsInMyRange, OneRunOfTheWholeArrayIsSharedOutEvenly) {
  const Comm comm(MPI_COMM_WORLD);
  constexpr std::uint64_t total = (std::uint64_t{1} << 40) + 3;
  const RunList mine = comm.is_root() ? RunList{{0, total}} : RunList{};
  EXPECT_EQ(runs_in_my_range(comm, mine, total),
            (RunList{equal_range(total, unsigned_rank(comm), unsigned_size(comm))}));
}

TEST(RunsInMyRange, ShowAnElementThatTwoRanksOwn) {
  const Comm comm(MPI_COMM_WORLD);
  if (comm.size() < 2) GTEST_SKIP() << "One rank cannot disagree with another.";
  // Everyone owns its tenth part, and the last rank also claims element 0.
  RunList mine = {{10 * unsigned_rank(comm), 10}};
  if (comm.rank() == comm.size() - 1) mine.insert(mine.begin(), {0, 1});
  const auto overlap = find_overlap(runs_in_my_range(comm, mine, 10 * unsigned_size(comm)));
  EXPECT_EQ(overlap.has_value(), comm.is_root());
  EXPECT_EQ(overlap.value_or(0), 0u);
}

TEST(RunsInMyRange, MayBeNoneWhereThereAreFewerElementsThanRanks) {
  const Comm comm(MPI_COMM_WORLD);
  const RunList mine = comm.is_root() ? RunList{{0, 1}} : RunList{};
  const RunList found = runs_in_my_range(comm, mine, 1);
  EXPECT_EQ(found, comm.is_root() ? (RunList{{0, 1}}) : RunList{});
  EXPECT_TRUE(runs_in_my_range(comm, {}, 0).empty());
}

TEST(RunsInMyRange, AreRefusedOnAllRanksIfARunOfOneLeavesTheArray) {
  const Comm comm(MPI_COMM_WORLD);
  const bool culprit = comm.rank() == comm.size() - 1;
  const RunList mine = culprit ? RunList{{95, 6}} : RunList{};
  try {
    runs_in_my_range(comm, mine, 100);
    FAIL() << "a run left the array unnoticed";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::bad_input);
    EXPECT_THAT(error.what(), testing::HasSubstr("6 elements at 95"));
  }
}

}  // namespace
}  // namespace slabmark
