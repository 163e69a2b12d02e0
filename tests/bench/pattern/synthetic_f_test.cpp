#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/pattern/synthetic/f_decomposition.hpp"
#include "bench/pattern/synthetic_statistics.hpp"
#include "core/base/error.hpp"

namespace slabmark {
namespace {

using testing::HasSubstr;

/// Entries of each rank in a PIO text file.
std::vector<std::vector<std::uint64_t>> read_dat(const std::string& path, Extent& dims) {
  std::ifstream file(path);
  std::string word;
  std::uint64_t version = 0;
  std::uint64_t ranks = 0;
  std::uint64_t ndims = 0;
  file >> word >> version >> word >> ranks >> word >> ndims;
  dims.assign(ndims, 0);
  for (auto& dim : dims) file >> dim;
  std::reverse(dims.begin(), dims.end());
  std::vector<std::vector<std::uint64_t>> entries(ranks);
  for (auto& of_rank : entries) {
    std::uint64_t rank = 0;
    std::uint64_t count = 0;
    file >> rank >> count;
    of_rank.resize(count);
    for (auto& entry : of_rank) file >> entry;
  }
  EXPECT_TRUE(file.good()) << path;
  return entries;
}

TEST(FDecomposition, Ne4On16RanksIsTheRealOneEntryByEntry) {
  const char* data = std::getenv("SLABMARK_TEST_DATA");
  if (data == nullptr) {
    GTEST_SKIP() << "SLABMARK_TEST_DATA does not name the directory of real decompositions.";
  }
  const auto f = make_f_decomposition(4, 16, 72, TieBreak::encounter);
  const std::vector<std::string> files = {"16io01dims_ioid_514.dat", "16io01dims_ioid_516.dat",
                                          "16io02dims_ioid_548.dat"};
  ASSERT_EQ(f.maps.size(), files.size());
  for (std::size_t k = 0; k < files.size(); ++k) {
    Extent dims;
    const auto real = read_dat(std::string(data) + "/piodecomp16tasks" + files[k], dims);
    ASSERT_EQ(f.maps[k].dims, dims);
    ASSERT_EQ(f.maps[k].ranks, real.size());
    for (std::uint64_t rank = 0; rank < real.size(); ++rank) {
      EXPECT_EQ(f.maps[k].entry_count(rank), real[rank].size());
      EXPECT_EQ(all_entries(f.maps[k], rank), real[rank]) << files[k] << " rank " << rank;
    }
  }
}

TEST(FDecomposition, Ne4On16RanksHasTheRequestsOfTheRealOne) {
  const auto f = make_f_decomposition(4, 16);
  const auto d1 = statistics_of(f.maps[0]);
  EXPECT_EQ(spread_of(d1.elements), (Spread{40, 54, 70}));
  EXPECT_EQ(spread_of(d1.runs), (Spread{2, 3, 4}));
  EXPECT_EQ(d1.total_runs, 47U);
  const auto d2 = statistics_of(f.maps[1]);
  EXPECT_EQ(spread_of(d2.elements), (Spread{52, 54, 56}));
  EXPECT_EQ(spread_of(d2.runs), (Spread{13, 27, 39}));
  EXPECT_EQ(d2.lengths,
            (std::map<std::uint64_t, std::uint64_t>{{1, 150}, {2, 95}, {3, 122}, {4, 40}}));
  const auto d3 = statistics_of(f.maps[2]);
  EXPECT_EQ(d3.total_runs, 72U * 407U);
}

TEST(FDecomposition, Ne30On512RanksHasTheRequestsOfTheRealOne) {
  const auto f = make_f_decomposition(30, 512);
  const auto d1 = statistics_of(f.maps[0]);
  EXPECT_EQ(spread_of(d1.elements), (Spread{70, 99, 124}));
  EXPECT_EQ(spread_of(d1.runs), (Spread{2, 4, 7}));
  EXPECT_EQ(d1.total_runs, 2011U);
  const auto d2 = statistics_of(f.maps[1]);
  EXPECT_EQ(spread_of(d2.elements), (Spread{90, 96, 96}));
  EXPECT_EQ(spread_of(d2.runs), (Spread{15, 16, 64}));
  EXPECT_EQ(d2.total_runs, 11058U);
  EXPECT_EQ(d2.lengths, (std::map<std::uint64_t, std::uint64_t>{
                            {1, 1140}, {2, 942}, {3, 2256}, {4, 502}, {5, 506}, {6, 5712}}));
}

TEST(FDecomposition, EveryElementOfEveryMapBelongsToExactlyOneRank) {
  for (const auto& map : make_f_decomposition(10, 77, 3).maps) {
    const auto statistics = statistics_of(map);
    EXPECT_EQ(statistics.missing, 0U) << map.name;
    EXPECT_EQ(statistics.repeated, 0U) << map.name;
  }
}

TEST(FDecomposition, Ne30On64RanksWithLowestTieBreakHasTheRequestsThatTheSeedReports) {
  const auto f = make_f_decomposition(30, 64, 72, TieBreak::lowest);
  const SyntheticMap& d3 = f.maps[2];
  std::vector<std::uint64_t> listed;
  for (std::uint64_t rank = 0; rank < 64; ++rank) listed.push_back(owned_count(d3, rank));
  EXPECT_EQ(spread_of(listed).max, 55296U);
  EXPECT_EQ(spread_of(listed).min, 51840U);

  // The seed's program on 8 ranks, which cuts runs at 72, the last of the dimensions as stored.
  std::vector<std::uint64_t> requests;
  for (std::uint64_t rank = 0; rank < 8; ++rank) {
    requests.push_back(merged_runs(d3, 8 * rank, 8, 72).size());
  }
  EXPECT_EQ(spread_of(requests).max, 22144U);
  EXPECT_EQ(spread_of(requests).min, 11134U);
}

TEST(FDecomposition, TieBreakChangesPhysicsOnly) {
  const auto encounter = make_f_decomposition(30, 64, 1, TieBreak::encounter);
  const auto lowest = make_f_decomposition(30, 64, 1, TieBreak::lowest);
  bool physics_differs = false;
  for (std::uint64_t rank = 0; rank < 64; ++rank) {
    EXPECT_EQ(all_entries(encounter.maps[0], rank), all_entries(lowest.maps[0], rank));
    physics_differs |= all_entries(encounter.maps[1], rank) != all_entries(lowest.maps[1], rank);
  }
  EXPECT_TRUE(physics_differs);
}

TEST(FDecomposition, Ne120On21600RanksHasThePublishedRequestExtremes) {
  const auto f = make_f_decomposition(120, 21600);
  // Variables of history file h0 that use each map, the third one on 72 levels.
  constexpr std::uint64_t d1_variables = 1;
  constexpr std::uint64_t d2_variables = 323;
  constexpr std::uint64_t d3_variables = 63;
  std::vector<std::uint64_t> requests;
  for (std::uint64_t rank = 0; rank < f.ranks; ++rank) {
    const std::uint64_t d1 = merged_runs(f.maps[0], rank, 1, f.maps[0].dims.back()).size();
    const std::uint64_t d2 = owned_count(f.maps[1], rank);
    requests.push_back(d1_variables * d1 + (d2_variables + d3_variables * 72) * d2);
  }
  EXPECT_EQ(spread_of(requests).min, 174926U);
  EXPECT_EQ(spread_of(requests).max, 184644U);
  EXPECT_EQ(f.maps[2].entry_count(0), f.maps[1].entry_count(0) * 72);
}

TEST(FDecomposition, LevelMapRepeatsEachChunkOnEachLevel) {
  const auto f = make_f_decomposition(4, 16, 3);
  const auto columns = all_entries(f.maps[1], 5);
  const auto levels = all_entries(f.maps[2], 5);
  ASSERT_EQ(levels.size(), 3 * columns.size());
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const std::uint64_t level = i / 16 % 3;
    const std::uint64_t column = columns[i / 48 * 16 + i % 16];
    EXPECT_EQ(levels[i], column == 0 ? 0 : column + level * 866);
  }
}

TEST(FDecomposition, EntriesAreHandedOutInShortStretches) {
  const auto f = make_f_decomposition(30, 8);
  std::size_t longest = 0;
  f.maps[2].visit(0, [&](std::span<const std::uint64_t> entries) {
    longest = std::max(longest, entries.size());
  });
  EXPECT_EQ(longest, 16U);
}

std::string refusal(std::uint64_t ne, std::uint64_t ranks, std::uint64_t levels) {
  try {
    make_f_decomposition(ne, ranks, levels);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(FDecomposition, ImpossibleRequestsAreRefusedWithTheReason) {
  EXPECT_THAT(refusal(4, 97, 72), HasSubstr("the mesh has only 96 elements"));
  EXPECT_THAT(refusal(4, 97, 72), HasSubstr("at most 96 ranks"));
  EXPECT_EQ(refusal(4, 96, 72), "");
  EXPECT_THAT(refusal(4, 0, 72), HasSubstr("at least 1 rank"));
  EXPECT_THAT(refusal(4, 16, 0), HasSubstr("at least 1 level"));
  EXPECT_THAT(refusal(7, 16, 72), HasSubstr("ne 7"));
  EXPECT_NE(refusal(120, 16, std::uint64_t{1} << 60), "");
}

}  // namespace
}  // namespace slabmark
