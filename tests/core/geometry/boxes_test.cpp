#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "core/geometry/hyperslab.hpp"

namespace slabmark {
namespace {

using Elements = std::vector<std::uint64_t>;

Elements elements_of(const Hyperslab& slab, const Extent& extent) {
  Elements elements;
  for_each_run(slab, extent, [&](Run run) {
    for (auto i = run.offset; i < run.end(); ++i) elements.push_back(i);
  });
  return elements;
}

struct Boxes {
  Elements elements;  ///< of all boxes, one after another
  std::size_t count = 0;
  std::uint64_t largest = 0;
};

Boxes boxes_of(const Hyperslab& slab, const Extent& extent, std::uint64_t most) {
  Boxes boxes;
  for_each_box(slab, most, [&](const Extent& start, const Extent& size) {
    const auto part = elements_of(make_box(start, size), extent);
    boxes.elements.insert(boxes.elements.end(), part.begin(), part.end());
    boxes.largest = std::max<std::uint64_t>(boxes.largest, part.size());
    ++boxes.count;
  });
  return boxes;
}

TEST(Boxes, AHyperslabOfOneBlockIsOneBox) {
  const auto slab = make_box({1, 2, 3}, {4, 5, 6});
  EXPECT_EQ(boxes_of(slab, {8, 8, 10}, 1000).count, 1u);
}

TEST(Boxes, BlocksThatTouchAreOneBox) {
  const Hyperslab slab{{0, 0}, {2, 3}, {3, 2}, {2, 3}};
  EXPECT_EQ(boxes_of(slab, {6, 6}, 1000).count, 1u);
}

TEST(Boxes, BlocksInTheSlowestDimensionOnlyStayWhole) {
  const Hyperslab slab{{0, 1}, {4, 1}, {3, 1}, {2, 5}};
  EXPECT_EQ(boxes_of(slab, {12, 8}, 1000).count, 3u);
}

TEST(Boxes, BlocksInTheFastestDimensionBecomeRowsInElementOrder) {
  const Hyperslab slab{{0, 0}, {1, 4}, {1, 2}, {2, 3}};
  const auto boxes = boxes_of(slab, {4, 8}, 1000);
  EXPECT_EQ(boxes.count, 4u);
  EXPECT_EQ(boxes.elements, (Elements{0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14}));
}

TEST(Boxes, AScalarIsOneBox) { EXPECT_EQ(boxes_of(make_box({}, {}), {}, 1).count, 1u); }

TEST(Boxes, AnEmptyHyperslabHasNone) {
  EXPECT_EQ(boxes_of(make_box({0, 0}, {3, 0}), {4, 4}, 10).count, 0u);
}

TEST(Boxes, AnyHyperslabCutAnywhereKeepsItsElementsInOrder) {
  std::mt19937 random(20240521);
  const auto pick = [&](std::uint64_t low, std::uint64_t high) {
    return std::uniform_int_distribution<std::uint64_t>(low, high)(random);
  };
  for (int i = 0; i < 2000; ++i) {
    const auto rank = pick(1, 4);
    Extent extent;
    Hyperslab slab;
    for (std::uint64_t d = 0; d < rank; ++d) {
      slab.start.push_back(pick(0, 2));
      slab.block.push_back(pick(1, 3));
      slab.count.push_back(pick(1, 3));
      slab.stride.push_back(slab.block.back() + pick(0, 2));
      extent.push_back(slab.start.back() + slab.stride.back() * slab.count.back() + 2);
    }
    const auto most = pick(1, 40);
    const auto boxes = boxes_of(slab, extent, most);
    ASSERT_EQ(boxes.elements, elements_of(slab, extent)) << i;
    ASSERT_LE(boxes.largest, most) << i;
  }
}

}  // namespace
}  // namespace slabmark
