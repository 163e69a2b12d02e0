#include "bench/pattern/selection.hpp"

#include <gtest/gtest.h>

#include "bench/pattern/runs_of.hpp"
#include "core/base/error.hpp"

namespace slabmark {
namespace {

std::vector<Hyperslab> hyperslabs_of(const SelectionPtr& selection) {
  std::vector<Hyperslab> slabs(selection->hyperslab_count());
  for (std::uint64_t i = 0; i < slabs.size(); ++i) selection->hyperslab(i, slabs[i]);
  return slabs;
}

TEST(RowRunSelections, AreHyperslabsOfCountOneInTheOrderGiven) {
  const SelectionPtr selection = select_row_runs({3, 10}, {{12, 4}, {7, 3}, {10, 1}});
  EXPECT_EQ(selection->extent(), (Extent{3, 10}));
  EXPECT_EQ(selection->hyperslab_count(), 3u);
  EXPECT_EQ(selection->element_count(), 8u);
  EXPECT_EQ(
      hyperslabs_of(selection),
      (std::vector{make_box({1, 2}, {1, 4}), make_box({0, 7}, {1, 3}), make_box({1, 0}, {1, 1})}));
  EXPECT_EQ(runs_of(selection), (RunList{{12, 4}, {7, 3}, {10, 1}}));
}

TEST(RowRunSelections, ThatTouchStayRequestsOfTheirOwn) {
  const SelectionPtr selection = select_row_runs({3, 10}, {{0, 10}, {10, 10}});
  EXPECT_EQ(selection->hyperslab_count(), 2u);
  EXPECT_EQ(runs_of(selection).size(), 2u);
}

TEST(RowRunSelections, AreRefusedIfEmptyAcrossRowsOrOutside) {
  for (const slabmark::Run bad : std::initializer_list<slabmark::Run>{{5, 0},
                                                                      {8, 3},
                                                                      {30, 1},
                                                                      {29, 2},
                                                                      {19, 2},
                                                                      {~std::uint64_t{0}, 1},
                                                                      {1, ~std::uint64_t{0}}}) {
    EXPECT_THROW(select_row_runs({3, 10}, {{0, 1}, bad}), InputError) << bad.offset;
  }
  EXPECT_THROW(select_row_runs({3, 0}, {{0, 1}}), InputError);
}

TEST(RowRunSelections, HoldSixteenBytesARequestEvenIfTheListHadRoomForMore) {
  RunList runs;
  runs.reserve(100000);
  for (std::uint64_t i = 0; i < 1000; ++i) runs.push_back({2 * i, 1});
  const SelectionPtr selection = select_row_runs({2000}, std::move(runs));
  EXPECT_LE(selection->memory(), 16u * 1000 + 256);
}

TEST(Selections, KnowWhetherTheirElementsAscend) {
  EXPECT_TRUE(select_row_runs({30}, {{0, 5}, {5, 1}, {9, 2}})->ascending());
  EXPECT_FALSE(select_row_runs({30}, {{9, 2}, {0, 5}})->ascending());
  EXPECT_FALSE(select_row_runs({30}, {{0, 5}, {4, 2}})->ascending());
  EXPECT_TRUE(select_all({4, 4})->ascending());
  EXPECT_TRUE(select_none({4, 4})->ascending());
  EXPECT_TRUE(
      select_hyperslabs({4, 4}, {make_box({0, 0}, {2, 4}), make_box({2, 0}, {1, 2})})->ascending());
  EXPECT_FALSE(
      select_hyperslabs({4, 4}, {make_box({0, 0}, {2, 2}), make_box({0, 2}, {2, 2})})->ascending());
  EXPECT_FALSE(
      select_hyperslabs({4, 4}, {make_box({0, 0}, {2, 4}), make_box({1, 0}, {1, 1})})->ascending());
}

TEST(HyperslabSelections, GiveTheRunsOfEachHyperslabApart) {
  const SelectionPtr selection = select_hyperslabs(
      {4, 4}, {make_box({2, 0}, {2, 4}), Hyperslab{{0, 0}, {1, 2}, {1, 2}, {1, 1}},
               make_box({0, 3}, {1, 1})});
  EXPECT_EQ(selection->element_count(), 11u);
  EXPECT_EQ(runs_of(selection), (RunList{{8, 8}, {0, 1}, {2, 1}, {3, 1}}));
}

TEST(HyperslabSelections, AreRefusedWithTheHyperslabThatDoesNotFit) {
  try {
    select_hyperslabs({72}, {make_box({0}, {1}), make_box({70}, {5})});
    FAIL() << "the second hyperslab leaves the array";
  } catch (const InputError& error) {
    EXPECT_STREQ(
        error.what(),
        "Hyperslab 1 does not fit an array of 72: its block of 5 at 70 in dimension 0 ends "
        "beyond the length 72.");
  }
}

TEST(GeneratedSelections, AreComputedAndNotStored) {
  const auto every_third = [](std::uint64_t i, Hyperslab& slab) { slab = make_box({3 * i}, {2}); };
  const SelectionPtr few = select_generated({1000000}, 10, every_third);
  const SelectionPtr many = select_generated({1000000}, 100000, every_third);
  EXPECT_EQ(many->memory(), few->memory());
  EXPECT_EQ(many->element_count(), 200000u);
  EXPECT_TRUE(many->ascending());
  EXPECT_EQ(hyperslabs_of(few)[9], make_box({27}, {2}));
  EXPECT_EQ(runs_of(few).back(), (slabmark::Run{27, 2}));
  EXPECT_THROW(select_generated({20}, 8, every_third), InputError);
}

TEST(Selections, OfAllAndNoneHaveOneHyperslabAndNone) {
  EXPECT_EQ(select_all({3, 5})->hyperslab_count(), 1u);
  EXPECT_EQ(runs_of(select_all({3, 5})), (RunList{{0, 15}}));
  EXPECT_EQ(select_all({3, 0})->hyperslab_count(), 0u);
  EXPECT_EQ(select_none({3, 5})->hyperslab_count(), 0u);
  EXPECT_EQ(select_none({3, 5})->element_count(), 0u);
  EXPECT_EQ(runs_of(select_none({3, 5})), RunList{});
}

TEST(Selections, OfAScalarHaveOneElementOrNone) {
  EXPECT_EQ(select_all({})->element_count(), 1u);
  EXPECT_EQ(runs_of(select_all({})), (RunList{{0, 1}}));
  EXPECT_EQ(select_row_runs({}, {{0, 1}})->element_count(), 1u);
  EXPECT_EQ(select_none({})->element_count(), 0u);
  EXPECT_THROW(select_row_runs({}, {{1, 1}}), InputError);
}

}  // namespace
}  // namespace slabmark
