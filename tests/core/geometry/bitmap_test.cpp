#include "core/geometry/bitmap.hpp"

#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace slabmark {
namespace {

using Stretches = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

TEST(Bitmap, FewBitsAreSetTogetherOrNotAtAllAlsoAcrossWords) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 300; ++round) {
    const std::uint64_t bits = 1 + random() % 200;
    Bitmap bitmap(bits);
    std::vector<bool> expected(bits);
    for (int i = 0; i < 12; ++i) {
      const auto begin = random() % bits;
      const auto count = 1 + random() % std::min<std::uint64_t>(64, bits - begin);
      bool free = true;
      for (auto bit = begin; bit < begin + count; ++bit) free = free && !expected[bit];
      ASSERT_EQ(bitmap.set_few(begin, count), free);
      for (auto bit = begin; free && bit < begin + count; ++bit) expected[bit] = true;
      for (std::uint64_t bit = 0; bit < bits; ++bit) {
        ASSERT_EQ(bitmap.find(true, bit, bit + 1) == bit, expected[bit]) << bit << " of " << bits;
      }
    }
  }
}

TEST(Bitmap, WhatWasStillZeroIsVisitedStretchByStretch) {
  Bitmap bitmap(300);
  bitmap.set(10, 20);
  bitmap.set(60, 130);
  Stretches visited;
  const auto visit = [&](std::uint64_t from, std::uint64_t to) { visited.emplace_back(from, to); };
  bitmap.set_rest(5, 300, visit);
  EXPECT_EQ(visited, (Stretches{{5, 10}, {20, 60}, {130, 300}}));
  visited.clear();
  bitmap.set_rest(0, 300, visit);
  EXPECT_EQ(visited, (Stretches{{0, 5}}));
}

}  // namespace
}  // namespace slabmark
