#include "storage/hdf5/union.hpp"

#include <algorithm>
#include <array>
#include <random>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "storage/hdf5/error.hpp"

namespace slabmark::hdf5 {
namespace {

/// The selected elements, row-major, in the order in which HDF5 walks them.
std::vector<std::uint64_t> walked(const Space& space) {
  std::vector<std::uint64_t> elements;
  if (space.selected() == 0) return elements;
  const auto iterator = own(H5Ssel_iter_create(space.get(), 1, 0), H5Ssel_iter_close,
                            "H5Ssel_iter_create", "a dataspace");
  while (true) {
    std::array<hsize_t, 256> offsets;
    std::array<size_t, 256> lengths;
    size_t sequences = 0;
    size_t bytes = 0;
    H5Ssel_iter_get_seq_list(iterator.get(), offsets.size(), 1 << 20, &sequences, &bytes,
                             offsets.data(), lengths.data());
    if (sequences == 0) return elements;
    for (size_t i = 0; i < sequences; ++i) {
      for (size_t k = 0; k < lengths[i]; ++k) elements.push_back(offsets[i] + k);
    }
  }
}

RunList every_second(std::uint64_t runs) {
  RunList all;
  for (std::uint64_t i = 0; i < runs; ++i) all.push_back({4 * i, 1 + i % 3});
  return all;
}

std::vector<std::uint64_t> elements_of(const RunList& runs) {
  std::set<std::uint64_t> elements;
  for (const auto run : runs) {
    for (auto e = run.offset; e < run.end(); ++e) elements.insert(e);
  }
  return {elements.begin(), elements.end()};
}

TEST(UnionBuilder, SelectsJustWhatWasAddedForAnyNumberOfHyperslabsAndAnyLeaf) {
  for (const std::size_t leaf : {1, 2, 16, 1000}) {
    for (const std::uint64_t runs : {1, 2, 15, 16, 17, 32, 33, 100, 257}) {
      UnionBuilder builder({2000}, false, leaf);
      for (const auto run : every_second(runs)) builder.add(run);
      EXPECT_EQ(builder.hyperslabs(), runs);
      EXPECT_EQ(walked(builder.finish()), elements_of(every_second(runs)))
          << runs << " runs, leaf " << leaf;
    }
  }
}

TEST(UnionBuilder, IgnoresTheOrderAndOverlaps) {
  auto runs = every_second(300);
  runs.push_back({10, 50});
  runs.push_back({0, 2});
  std::shuffle(runs.begin(), runs.end(), std::mt19937(1));
  UnionBuilder builder({2000});
  for (const auto run : runs) builder.add(run);
  EXPECT_EQ(walked(builder.finish()), elements_of(runs));
}

TEST(UnionBuilder, TakesRunsThatCrossRowsOfAnArrayOfMoreDimensions) {
  const RunList runs = {{3, 2}, {6, 9}, {20, 41}, {62, 1}, {70, 50}};
  UnionBuilder builder({4, 5, 6});
  for (const auto run : runs) builder.add(run);
  EXPECT_EQ(walked(builder.finish()), elements_of(runs));
}

TEST(UnionBuilder, KeepsStridedHyperslabs) {
  UnionBuilder builder({10, 10});
  builder.add(Hyperslab{{0, 1}, {4, 3}, {2, 3}, {1, 2}});
  builder.add(Hyperslab{{9, 9}, {1, 1}, {1, 1}, {1, 1}});
  EXPECT_EQ(builder.hyperslabs(), 2U);
  EXPECT_EQ(walked(builder.finish()),
            (std::vector<std::uint64_t>{1, 2, 4, 5, 7, 8, 41, 42, 44, 45, 47, 48, 99}));
}

TEST(UnionBuilder, WithoutElementsSelectsNothing) {
  UnionBuilder builder({10});
  builder.add(slabmark::Run{3, 0});
  builder.add(Hyperslab{{0}, {1}, {0}, {1}});
  EXPECT_EQ(builder.finish().selected(), 0U);
}

TEST(UnionBuilder, StartsAgainAfterFinish) {
  UnionBuilder builder({100});
  builder.add(slabmark::Run{0, 10});
  builder.finish();
  builder.add(slabmark::Run{50, 5});
  EXPECT_EQ(walked(builder.finish()), elements_of({{50, 5}}));
}

TEST(UnionBuilder, SelectsTheElementOfAScalar) {
  UnionBuilder builder({});
  builder.add(slabmark::Run{0, 1});
  EXPECT_EQ(builder.finish().selected(), 1U);
}

TEST(UnionBuilder, WithTimeInFrontMovesToAnyTime) {
  UnionBuilder builder({4, 5}, true);
  builder.add(slabmark::Run{2, 2});
  builder.add(slabmark::Run{8, 4});
  auto space = builder.finish();
  EXPECT_EQ(walked(space), elements_of({{2, 2}, {8, 4}}));
  for (const std::uint64_t time : {3, 1}) {
    space.move_to(time, {4, 4, 5});
    EXPECT_EQ(H5Sselect_valid(space.get()), 1);
    EXPECT_EQ(walked(space), elements_of({{20 * time + 2, 2}, {20 * time + 8, 4}}));
  }
}

TEST(UnionBuilder, TakesOffsetsBeyond32Bits) {
  const std::uint64_t far = std::uint64_t{1} << 40;
  UnionBuilder builder({2 * far});
  builder.add(slabmark::Run{far, far / 2});
  builder.add(slabmark::Run{7, 1});
  EXPECT_EQ(builder.finish().selected(), far / 2 + 1);
}

}  // namespace
}  // namespace slabmark::hdf5
