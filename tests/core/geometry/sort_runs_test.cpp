#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <numeric>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "core/geometry/run.hpp"

namespace slabmark {
namespace {

RunList sorted_and_coalesced(RunList runs) {
  sort_runs(runs);
  coalesce(runs);
  return runs;
}

/// What sorting and coalescing must give, by comparison.
RunList expected_of(RunList runs) {
  std::sort(runs.begin(), runs.end());
  coalesce(runs);
  return runs;
}

bool ascends(const RunList& runs) {
  return std::is_sorted(runs.begin(), runs.end(),
                        [](const Run& a, const Run& b) { return a.offset < b.offset; });
}

/// `count` different single elements below `range` (a power of two), shuffled by an odd multiplier.
RunList scattered_elements(std::uint64_t count, std::uint64_t range) {
  RunList runs;
  for (std::uint64_t i = 0; i < count; ++i) runs.push_back({(i * 0x9E3779B97F4A7C15) % range, 1});
  return runs;
}

TEST(SortedRuns, OfADenseElementListComeBackMerged) {
  RunList runs = {{7, 1}, {2, 1}, {5, 1}, {3, 1}, {6, 1}};
  sort_runs(runs);
  EXPECT_EQ(runs, (RunList{{2, 2}, {5, 3}}));
}

TEST(SortedRuns, ThatAscendAlreadyAreLeftAsTheyAre) {
  RunList runs = {{1, 1}, {2, 1}, {9, 4}};
  const RunList before = runs;
  sort_runs(runs);
  EXPECT_EQ(runs, before);
}

TEST(SortedRuns, MayBeNone) {
  RunList runs;
  sort_runs(runs);
  EXPECT_TRUE(runs.empty());
}

TEST(SortedRuns, KeepADuplicateOfADenseList) {
  RunList runs = scattered_elements(2000, 1 << 12);
  runs.push_back(runs[1234]);
  const std::uint64_t twice = runs[1234].offset;
  sort_runs(runs);
  EXPECT_TRUE(ascends(runs));
  EXPECT_EQ(total_length(runs), 2001u);
  EXPECT_EQ(find_overlap(runs), twice);
}

TEST(SortedRuns, KeepAnOverlapOfLongRuns) {
  RunList runs = {{500, 100}, {100, 300}, {0, 101}};
  sort_runs(runs);
  EXPECT_EQ(total_length(runs), 501u);
  EXPECT_EQ(find_overlap(runs), 100u);
}

TEST(SortedRuns, KeepAnOverlapWithinALongRun) {
  RunList runs = {{640, 1}, {0, 4096}, {5000, 1}};
  sort_runs(runs);
  EXPECT_EQ(find_overlap(runs), 640u);
}

TEST(SortedRuns, OfListsSmallAndLargeDenseAndSparseAgreeWithComparison) {
  for (const std::uint64_t count : {2, 3, 100, 1023, 1024, 5000, 40000}) {
    for (const unsigned bits : {17, 20, 24, 33, 44, 63}) {
      const RunList runs = scattered_elements(count, std::uint64_t{1} << bits);
      EXPECT_EQ(sorted_and_coalesced(runs), expected_of(runs)) << count << " below 2^" << bits;
    }
  }
}

TEST(SortedRuns, OfRandomLengthsAgreeWithComparison) {
  std::mt19937_64 random(7);
  for (int trial = 0; trial < 200; ++trial) {
    const std::uint64_t gap = std::uint64_t{1} << (random() % 12);
    const std::uint64_t longest = std::uint64_t{1} << (random() % 9);
    std::uint64_t at = random() % 1000;
    RunList runs;
    for (int i = 0; i < 1500; ++i) {
      runs.push_back({at, 1 + random() % longest});
      at = runs.back().end() + random() % gap;
    }
    std::shuffle(runs.begin(), runs.end(), random);
    EXPECT_EQ(sorted_and_coalesced(runs), expected_of(runs)) << "trial " << trial;
  }
}

TEST(SortedRuns, AtTheEndOfTheOffsetsAgreeWithComparison) {
  constexpr std::uint64_t last = std::numeric_limits<std::uint64_t>::max();
  const RunList runs = {{last - 1, 1}, {last - 7, 2}, {last - 3, 1}};
  EXPECT_EQ(sorted_and_coalesced(runs), expected_of(runs));
}

TEST(SortedRuns, WithAnEndBeyond64BitsAreNotMistakenForShortOnes) {
  constexpr std::uint64_t last = std::numeric_limits<std::uint64_t>::max();
  RunList runs = {{9, last}, {3, 1}, {5, 1}};
  sort_runs(runs);
  EXPECT_EQ(runs, (RunList{{3, 1}, {5, 1}, {9, last}}));
}

/// The lists of all ranks in a decomposition of PIO text: 1-based offsets, 0 = no element.
std::vector<RunList> read_pio_text(std::ifstream& file) {
  std::string word;
  std::uint64_t ranks = 0, dimensions = 0, number = 0;
  file >> word >> number >> word >> ranks >> word >> dimensions;
  while (dimensions-- > 0) file >> number;
  std::vector<RunList> lists(ranks);
  for (RunList& list : lists) {
    std::uint64_t entries = 0;
    file >> number >> entries;
    for (std::uint64_t i = 0; i < entries; ++i) {
      file >> number;
      if (number > 0) list.push_back({number - 1, 1});
    }
  }
  return lists;
}

TEST(SortedRuns, OfARealAtmosphereAreAsManyAsItsPublishedRequests) {
  const char* directory = std::getenv("SLABMARK_TEST_DATA");
  if (directory == nullptr) {
    GTEST_SKIP() << "SLABMARK_TEST_DATA names no directory with the recorded decompositions.";
  }
  std::ifstream file(std::string(directory) + "/piodecomp16tasks16io02dims_ioid_548.dat");
  ASSERT_TRUE(file) << "the recorded atmosphere is missing in " << directory;
  std::uint64_t elements = 0, requests = 0;
  RunList all;
  for (const RunList& list : read_pio_text(file)) {
    const RunList runs = sorted_and_coalesced(list);
    EXPECT_EQ(runs, expected_of(list));
    elements += total_length(runs);
    requests += split_at_rows(runs, 866).size();
    all.insert(all.end(), runs.begin(), runs.end());
  }
  EXPECT_EQ(elements, 72u * 866u);
  EXPECT_EQ(requests, 72u * 407u);
  EXPECT_EQ(sorted_and_coalesced(all), (RunList{{0, 72 * 866}}));
}

}  // namespace
}  // namespace slabmark
