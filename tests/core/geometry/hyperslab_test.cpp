#include "core/geometry/hyperslab.hpp"

#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace slabmark {
namespace {

using testing::HasSubstr;
using testing::Optional;

RunList runs_of(const Hyperslab& slab, const Extent& extent) {
  RunList runs;
  for_each_run(slab, extent, [&](Run run) { runs.push_back(run); });
  return runs;
}

bool selects_index(const Hyperslab& slab, std::size_t d, std::uint64_t index) {
  if (index < slab.start[d]) return false;
  const std::uint64_t from_start = index - slab.start[d];
  for (std::uint64_t c = 0; c < slab.count[d]; ++c) {
    const std::uint64_t block_start = c * slab.stride[d];
    if (from_start >= block_start && from_start < block_start + slab.block[d]) return true;
  }
  return false;
}

/// Maximal runs by asking for each element of the array whether it is selected.
RunList runs_by_definition(const Hyperslab& slab, const Extent& extent) {
  RunList runs;
  for (std::uint64_t element = 0; element < element_count(extent); ++element) {
    bool selected = true;
    std::uint64_t rest = element;
    for (std::size_t d = extent.size(); d-- > 0;) {
      selected = selected && selects_index(slab, d, rest % extent[d]);
      rest /= extent[d];
    }
    if (!selected) continue;
    if (!runs.empty() && runs.back().end() == element) {
      ++runs.back().length;
    } else {
      runs.push_back({element, 1});
    }
  }
  return runs;
}

/// A well-formed hyperslab within `extent`.
Hyperslab random_slab(std::mt19937_64& random, const Extent& extent) {
  Hyperslab slab;
  for (const std::uint64_t length : extent) {
    const std::uint64_t block = 1 + random() % length;
    const std::uint64_t stride = block + random() % 3;
    const std::uint64_t fitting = (length - block) / stride + 1;
    const std::uint64_t count = 1 + random() % fitting;
    const std::uint64_t span = (count - 1) * stride + block;
    slab.start.push_back(random() % (length - span + 1));
    slab.stride.push_back(stride);
    slab.count.push_back(count);
    slab.block.push_back(block);
  }
  return slab;
}

Extent random_extent(std::mt19937_64& random, std::uint64_t longest) {
  Extent extent(1 + random() % 4);
  for (std::uint64_t& length : extent) length = 1 + random() % longest;
  return extent;
}

TEST(Hyperslabs, CountTheirElements) {
  EXPECT_EQ(element_count(Hyperslab{{0, 1}, {3, 4}, {2, 3}, {1, 2}}), 12u);
  EXPECT_EQ(element_count(make_box({}, {})), 1u);
  constexpr std::uint64_t half = std::uint64_t{1} << 62;
  EXPECT_THROW(element_count(Hyperslab{{0}, {4}, {half}, {4}}), InputError);
}

TEST(Hyperslabs, InsideTheirArrayHaveNothingSaidAgainstThem) {
  EXPECT_EQ(outside(make_box({67}, {5}), {72}), std::nullopt);
  EXPECT_EQ(outside(Hyperslab{{1}, {4}, {3}, {2}}, {11}), std::nullopt);
  EXPECT_EQ(outside(make_box({}, {}), {}), std::nullopt);
  EXPECT_EQ(outside(Hyperslab{{72}, {1}, {0}, {1}}, {72}), std::nullopt);
}

TEST(Hyperslabs, OutsideTheirArrayAreToldWhy) {
  EXPECT_EQ(outside(make_box({70}, {5}), {72}),
            "its block of 5 at 70 in dimension 0 ends beyond the length 72");
  EXPECT_THAT(outside(Hyperslab{{1}, {4}, {3}, {2}}, {10}), Optional(HasSubstr("3 blocks of 2")));
  EXPECT_THAT(outside(make_box({0, 9}, {1, 1}), {2, 8}), Optional(HasSubstr("start 9")));
  EXPECT_THAT(outside(make_box({0}, {1}), {2, 8}), Optional(HasSubstr("1 dimensions")));
  EXPECT_THAT(outside(Hyperslab{{0}, {0}, {1}, {1}}, {5}), Optional(HasSubstr("stride")));
  EXPECT_THAT(outside(Hyperslab{{0}, {2}, {2}, {3}}, {9}), Optional(HasSubstr("overlap")));
}

TEST(Hyperslabs, ThatWouldOverflowAreOutside) {
  constexpr std::uint64_t huge = ~std::uint64_t{0};
  EXPECT_NE(outside(make_box({1}, {huge}), {10}), std::nullopt);
  EXPECT_NE(outside(make_box({huge}, {1}), {10}), std::nullopt);
  EXPECT_NE(outside(Hyperslab{{0}, {huge}, {3}, {1}}, {10}), std::nullopt);
  EXPECT_NE(outside(Hyperslab{{0}, {1}, {huge}, {1}}, {10}), std::nullopt);
}

TEST(Hyperslabs, RowsTakenInFullAreOneRun) {
  EXPECT_EQ(runs_of(make_box({2, 0, 0}, {3, 5, 7}), {9, 5, 7}), (RunList{{70, 105}}));
  EXPECT_EQ(runs_of(make_box({0, 0}, {4, 4}), {4, 4}), (RunList{{0, 16}}));
}

TEST(Hyperslabs, BlocksThatTouchAreOneRun) {
  EXPECT_EQ(runs_of(Hyperslab{{1}, {3}, {3}, {3}}, {12}), (RunList{{1, 9}}));
}

TEST(Hyperslabs, TheEndOfARowJoinsTheStartOfTheNext) {
  EXPECT_EQ(runs_of(Hyperslab{{0, 0}, {1, 4}, {2, 2}, {1, 1}}, {2, 5}),
            (RunList{{0, 1}, {4, 2}, {9, 1}}));
}

TEST(Hyperslabs, OfAScalarAreOneElement) {
  EXPECT_EQ(runs_of(make_box({}, {}), {}), (RunList{{0, 1}}));
}

TEST(Hyperslabs, WithoutElementsHaveNoRuns) {
  EXPECT_EQ(runs_of(Hyperslab{{0, 0}, {1, 1}, {2, 0}, {1, 1}}, {3, 3}), RunList{});
  EXPECT_EQ(runs_of(make_box({0, 0}, {0, 3}), {3, 3}), RunList{});
}

TEST(Hyperslabs, RunsAreThoseOfTheDefinition) {
  std::mt19937_64 random(21);
  for (int trial = 0; trial < 1000; ++trial) {
    const Extent extent = random_extent(random, 7);
    const Hyperslab slab = random_slab(random, extent);
    ASSERT_EQ(outside(slab, extent), std::nullopt);
    const RunList runs = runs_of(slab, extent);
    EXPECT_EQ(runs, runs_by_definition(slab, extent)) << "trial " << trial;
    EXPECT_EQ(total_length(runs), element_count(slab));
  }
}

TEST(Hyperslabs, AWalkCanStartAgain) {
  RunWalk walk;
  slabmark::Run run;
  EXPECT_FALSE(walk.next(run));
  walk.restart(make_box({0, 1}, {2, 1}), {2, 3});
  EXPECT_TRUE(walk.next(run));
  walk.restart(make_box({4}, {2}), {9});
  EXPECT_TRUE(walk.next(run));
  EXPECT_EQ(run, (slabmark::Run{4, 2}));
  EXPECT_FALSE(walk.next(run));
}

TEST(BoxesOfARange, AreFewAscendAndCoverJustTheRange) {
  std::mt19937_64 random(22);
  for (int trial = 0; trial < 1000; ++trial) {
    const Extent extent = random_extent(random, 6);
    const std::uint64_t total = element_count(extent);
    const std::uint64_t offset = random() % total;
    const slabmark::Run range{offset, random() % (total - offset + 1)};
    const std::vector<Hyperslab> boxes = boxes_of_range(range, extent);
    EXPECT_LE(boxes.size(), 2 * extent.size() - 1);
    std::uint64_t end = range.offset;
    for (const Hyperslab& box : boxes) {
      ASSERT_EQ(outside(box, extent), std::nullopt);
      const RunList runs = runs_of(box, extent);
      ASSERT_EQ(runs.size(), 1u);
      EXPECT_EQ(runs[0].offset, end);
      end = runs[0].end();
    }
    EXPECT_EQ(end, range.end());
  }
}

TEST(BoxesOfARange, OfAScalarAreItsElement) {
  EXPECT_EQ(boxes_of_range({0, 1}, {}), std::vector<Hyperslab>{make_box({}, {})});
}

TEST(BoxesOfARange, AreRefusedBeyondTheArray) {
  EXPECT_THROW(boxes_of_range({5, 2}, {2, 3}), InputError);
  EXPECT_THROW(boxes_of_range({~std::uint64_t{0}, 2}, {2, 3}), InputError);
}

TEST(RowRuns, AreHyperslabsOfCountOne) {
  Hyperslab slab = make_box({9, 9, 9}, {9, 9, 9});
  hyperslab_of_row_run({866 * 5 + 17, 4}, {72, 866}, slab);
  EXPECT_EQ(slab, make_box({5, 17}, {1, 4}));
  hyperslab_of_row_run({23, 1}, {2, 3, 4}, slab);
  EXPECT_EQ(slab, make_box({1, 2, 3}, {1, 1, 1}));
  hyperslab_of_row_run({0, 1}, {}, slab);
  EXPECT_EQ(slab, make_box({}, {}));
}

}  // namespace
}  // namespace slabmark
