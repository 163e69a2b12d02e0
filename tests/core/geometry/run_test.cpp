#include "core/geometry/run.hpp"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace slabmark {
namespace {

/// One flag an element: the plain model that the operations on runs are held against.
using Flags = std::vector<bool>;

Flags flags_of(const RunList& runs, std::uint64_t total) {
  Flags flags(total, false);
  for (const Run& run : runs) {
    for (std::uint64_t i = run.offset; i < run.end(); ++i) flags[i] = true;
  }
  return flags;
}

/// Maximal runs of set flags.
RunList runs_of(const Flags& flags) {
  RunList runs;
  for (std::uint64_t i = 0; i < flags.size(); ++i) {
    if (!flags[i]) continue;
    if (i > 0 && flags[i - 1]) {
      ++runs.back().length;
    } else {
      runs.push_back({i, 1});
    }
  }
  return runs;
}

/// Sorted runs without overlaps, some of which touch.
RunList random_runs(std::mt19937_64& random, std::uint64_t total) {
  RunList runs;
  std::uint64_t at = random() % 4;
  while (at < total) {
    const std::uint64_t length = 1 + random() % 5;
    runs.push_back({at, std::min(length, total - at)});
    at += length + random() % 3;
  }
  return runs;
}

TEST(EqualRanges, CoverEverythingInOrderAndDifferByOneAtMost) {
  for (const std::uint64_t total : {0, 1, 5, 12, 13, 1000003}) {
    for (const std::uint64_t parts : {1, 2, 5, 12, 64}) {
      std::uint64_t end = 0;
      for (std::uint64_t part = 0; part < parts; ++part) {
        const slabmark::Run range = equal_range(total, part, parts);
        EXPECT_EQ(range.offset, end);
        EXPECT_GE(range.length, total / parts);
        EXPECT_LE(range.length, total / parts + 1);
        end = range.end();
      }
      EXPECT_EQ(end, total);
    }
  }
}

TEST(EqualRanges, DoNotOverflow) {
  constexpr std::uint64_t total = (std::uint64_t{1} << 63) - 1;
  EXPECT_EQ(equal_range(total, 6, 7).end(), total);
}

TEST(Runs, TotalLengthCountsElements) {
  EXPECT_EQ(total_length(RunList{}), 0u);
  EXPECT_EQ(total_length(RunList{{5, 3}, {100, 4}}), 7u);
}

TEST(Runs, ARunThatBeginsWhereTheLastEndsBecomesPartOfIt) {
  RunList runs;
  append(runs, {2, 3});
  append(runs, {5, 1});
  append(runs, {7, 2});
  append(runs, {0, 1});
  EXPECT_EQ(runs, (RunList{{2, 4}, {7, 2}, {0, 1}}));
}

TEST(Runs, TouchingRunsAreMergedByCoalesce) {
  RunList runs = {{0, 3}, {3, 2}, {6, 1}, {7, 1}, {8, 4}};
  coalesce(runs);
  EXPECT_EQ(runs, (RunList{{0, 5}, {6, 6}}));
}

TEST(Runs, EmptyRunsAreDroppedByCoalesce) {
  RunList runs = {{0, 0}, {2, 1}, {3, 0}, {3, 1}, {9, 0}};
  coalesce(runs);
  EXPECT_EQ(runs, (RunList{{2, 2}}));
}

TEST(Runs, OverlapsSurviveCoalesce) {
  RunList runs = {{0, 5}, {2, 3}, {5, 3}};
  coalesce(runs);
  EXPECT_EQ(find_overlap(runs), 2u);
  RunList twice = {{0, 3}, {0, 3}, {3, 1}};
  coalesce(twice);
  EXPECT_EQ(total_length(twice), 7u);
  EXPECT_EQ(find_overlap(twice), 0u);
}

TEST(Runs, AreCutAtRows) {
  EXPECT_EQ(split_at_rows(RunList{{8, 14}, {23, 1}, {30, 10}}, 10),
            (RunList{{8, 2}, {10, 10}, {20, 2}, {23, 1}, {30, 10}}));
  EXPECT_EQ(split_at_rows(RunList{{3, 3}}, 1), (RunList{{3, 1}, {4, 1}, {5, 1}}));
  EXPECT_EQ(split_at_rows(RunList{{15, 0}}, 10), RunList{});
}

TEST(Runs, AreCutAtRowsInAnyOrder) {
  EXPECT_EQ(split_at_rows(RunList{{25, 10}, {5, 10}, {18, 1}}, 10),
            (RunList{{25, 5}, {30, 5}, {5, 5}, {10, 5}, {18, 1}}));
}

RunList parts_of(Run run, std::uint64_t length) {
  RunList parts;
  for_each_part(run, length, [&](Run part) { parts.push_back(part); });
  return parts;
}

TEST(Runs, ArePartedAtMultiplesOfALength) {
  EXPECT_EQ(parts_of({3, 9}, 5), (RunList{{3, 2}, {5, 5}, {10, 2}}));
  EXPECT_EQ(parts_of({5, 5}, 5), (RunList{{5, 5}}));
  EXPECT_EQ(parts_of({7, 0}, 5), RunList{});
}

TEST(Runs, CannotBeCutAtRowsWithoutLength) {
  EXPECT_THROW(split_at_rows(RunList{{0, 1}}, 0), InputError);
}

TEST(Runs, TheLowestSharedElementIsFound) {
  EXPECT_EQ(find_overlap(RunList{}), std::nullopt);
  EXPECT_EQ(find_overlap(RunList{{0, 3}, {3, 3}, {7, 1}}), std::nullopt);
  EXPECT_EQ(find_overlap(RunList{{0, 3}, {2, 3}, {4, 1}}), 2u);
  EXPECT_EQ(find_overlap(RunList{{4, 1}, {4, 1}}), 4u);
  EXPECT_EQ(find_overlap(RunList{{0, 10}, {3, 0}, {10, 1}}), std::nullopt);
}

TEST(Runs, ComplementAgreesWithFlags) {
  std::mt19937_64 random(11);
  for (int trial = 0; trial < 300; ++trial) {
    const std::uint64_t total = 1 + random() % 120;
    const RunList a = random_runs(random, total);
    Flags left_out = flags_of(a, total);
    left_out.flip();
    EXPECT_EQ(complement(a, total), runs_of(left_out));
  }
}

TEST(Runs, EachElementFallsIntoTheEqualRangeThatHasIt) {
  for (const std::uint64_t total : {1, 7, 12}) {
    for (const std::uint64_t parts : {1, 3, 4, 20}) {
      for (std::uint64_t element = 0; element < total; ++element) {
        const auto range = equal_range(total, equal_range_of(element, total, parts), parts);
        EXPECT_LE(range.offset, element);
        EXPECT_LT(element, range.end());
      }
    }
  }
}

TEST(Runs, ComplementClipsAtTheTotal) {
  EXPECT_EQ(complement(RunList{{2, 3}, {8, 9}}, 10), (RunList{{0, 2}, {5, 3}}));
  EXPECT_EQ(complement(RunList{{12, 3}}, 10), (RunList{{0, 10}}));
  EXPECT_EQ(complement(RunList{}, 0), RunList{});
}

TEST(Runs, CutRunsKeepTheirElementsAndStayWithinRows) {
  std::mt19937_64 random(12);
  for (int trial = 0; trial < 300; ++trial) {
    const std::uint64_t total = 1 + random() % 120;
    const std::uint64_t row = 1 + random() % 9;
    RunList runs = random_runs(random, total);
    coalesce(runs);
    const RunList pieces = split_at_rows(runs, row);
    for (const slabmark::Run& piece : pieces)
      EXPECT_EQ(piece.offset / row, (piece.end() - 1) / row);
    RunList joined = pieces;
    coalesce(joined);
    EXPECT_EQ(joined, runs);
  }
}

}  // namespace
}  // namespace slabmark
