#include "accel/hdf5_connector/log/mapping_groups.hpp"

#include <array>
#include <random>

#include <gmock/gmock.h>

namespace slabmark::slablog {
namespace {

using ::testing::ElementsAre;
using ::testing::Le;

/// The same runs of 300 elements five times.
RunList repeated(const RunList& first) {
  RunList runs;
  for (std::uint64_t row = 0; row < 5; ++row) {
    for (const auto run : first) runs.push_back({run.offset + 300 * row, run.length});
  }
  coalesce(runs);
  return runs;
}

struct Group {
  RunList runs;
  hssize_t boxes;     ///< that HDF5 has selected
  Hyperslab regular;  ///< what it has selected, where that is one
};

std::vector<Group> groups_of(const RunList& runs, const Extent& extent) {
  std::vector<Group> groups;
  for_each_mapping_group(runs, extent, [&](const MappingGroup& group) {
    const auto space = group.selection.get();
    Group found{group.runs, H5Sget_select_hyper_nblocks(space), {}};
    EXPECT_EQ(group.selection.selected(), total_length(group.runs));
    if (H5Sis_regular_hyperslab(space) > 0) {
      auto& slab = found.regular;
      for (auto* numbers : {&slab.start, &slab.stride, &slab.count, &slab.block}) {
        numbers->resize(extent.size());
      }
      std::array<std::array<hsize_t, 4>, 4> dims;
      H5Sget_regular_hyperslab(space, dims[0].data(), dims[1].data(), dims[2].data(),
                               dims[3].data());
      for (std::size_t d = 0; d < extent.size(); ++d) {
        slab.start[d] = dims[0][d];
        slab.stride[d] = dims[1][d];
        slab.count[d] = dims[2][d];
        slab.block[d] = dims[3][d];
      }
    }
    groups.push_back(std::move(found));
  });
  return groups;
}

/// Coalesced, as those of a log are.
RunList random_offsets(std::uint64_t elements, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  RunList runs;
  for (std::uint64_t at = random() % 3; at < elements; at += 1 + random() % 3) {
    runs.push_back({at, std::min(1 + random() % 4, elements - at)});
    at = runs.back().end();
  }
  return runs;
}

TEST(MappingGroups, HyperslabsAreDividedIntoGroupsOfAtMost128) {
  const auto runs = random_offsets(5000, 1);
  const auto groups = groups_of(runs, {5000});
  EXPECT_EQ(groups.size(), (runs.size() + 127) / 128);
  RunList all;
  for (const auto& group : groups) {
    EXPECT_EQ(group.boxes, static_cast<hssize_t>(group.runs.size()));
    EXPECT_THAT(group.runs.size(), Le(128u));
    all.insert(all.end(), group.runs.begin(), group.runs.end());
  }
  EXPECT_EQ(all, runs);
}

TEST(MappingGroups, EqualHyperslabsAtEqualDistancesAreOneGroup) {
  RunList runs = {{0, 3}, {5, 4}};
  for (std::uint64_t i = 0; i < 1000; ++i) runs.push_back({20 + 7 * i, 2});
  runs.push_back({20 + 7 * 1000, 3});
  const auto groups = groups_of(runs, {8000});
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_THAT(groups[0].runs, ElementsAre(slabmark::Run{0, 3}, slabmark::Run{5, 4}));
  EXPECT_EQ(groups[1].runs.size(), 1000u);
  EXPECT_EQ(groups[1].regular, (Hyperslab{{20}, {7}, {1000}, {2}}));
  EXPECT_THAT(groups[2].runs, ElementsAre(slabmark::Run{7020, 3}));
}

TEST(MappingGroups, EqualColumnsOfManyRowsAreOneGroup) {
  RunList runs;
  for (std::uint64_t row = 0; row < 30; ++row) {
    for (std::uint64_t i = 0; i < 200; ++i) runs.push_back({1000 * row + 1 + 5 * i, 1});
  }
  const auto groups = groups_of(runs, {30, 1000});
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].runs, runs);
  EXPECT_EQ(groups[0].regular, (Hyperslab{{0, 1}, {1, 5}, {1, 200}, {30, 1}}));
}

TEST(MappingGroups, TheGroupsOfAnyRunsHoldEachElementOnce) {
  for (const auto& extent :
       {Extent{1500}, Extent{5, 300}, Extent{30, 50}, Extent{10, 5, 30}, Extent{1500, 1}}) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const auto runs =
          seed % 2 == 0 ? random_offsets(1500, seed) : repeated(random_offsets(300, seed));
      RunList all;
      for (const auto& group : groups_of(runs, extent)) {
        EXPECT_TRUE(std::is_sorted(group.runs.begin(), group.runs.end()));
        all.insert(all.end(), group.runs.begin(), group.runs.end());
      }
      sort_runs(all);
      coalesce(all);
      ASSERT_EQ(all, runs) << "seed " << seed << " in " << slabmark::to_string(extent);
    }
  }
}

}  // namespace
}  // namespace slabmark::slablog
