#include "accel/hdf5_connector/log/index.hpp"

#include <random>

#include <gmock/gmock.h>

#include "accel/hdf5_connector/log/coded_runs.hpp"
#include "core/base/error.hpp"

namespace slabmark::slablog {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Bytes = std::vector<std::byte>;

std::vector<IndexEntry> entries_of(std::span<const std::byte> index) {
  std::vector<IndexEntry> entries;
  for_each_entry(index, "/_slablog/index0",
                 [&](const IndexEntry& entry) { entries.push_back(entry); });
  return entries;
}

/// Ascending runs of `extent`, where `every` tells the mean distance.
LogRuns random_runs(std::uint64_t elements, std::uint64_t every) {
  std::mt19937_64 random(1);
  LogRuns runs;
  for (std::uint64_t at = random() % every; at < elements;) {
    const auto length = std::min(1 + random() % 4, elements - at);
    runs.push_back({at, length, 0, in_segment});
    at += length + 1 + random() % every;
  }
  return runs;
}

/// As they lie in the segment from element `first` on.
LogRuns placed(LogRuns runs, std::uint64_t first, std::uint64_t flush, std::size_t size) {
  for (auto& run : runs) {
    run.position = first * size;
    run.source = in_segment + static_cast<std::uint32_t>(flush);
    first += run.length;
  }
  return runs;
}

TEST(Index, EntriesComeBackAsTheyWereWritten) {
  const auto some = random_runs(5000, 9);
  const LogRuns far = {{std::uint64_t{1} << 40, std::uint64_t{1} << 33, 0, in_segment}};
  Bytes index;
  append_entry(index, 7, {50, 100}, 12, some);
  append_entry(index, 300, {std::uint64_t{1} << 41}, std::uint64_t{1} << 35, far);
  append_entry(index, 7, {20, 100}, 0, {});
  const auto entries = entries_of(index);
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(entries[0].dataset, 7u);
  EXPECT_THAT(entries[0].extent, ElementsAre(50, 100));
  EXPECT_EQ(CodedRuns(entries[0], 3, 8, "index").decoded(), placed(some, 12, 3, 8));
  EXPECT_EQ(entries[1].dataset, 300u);
  EXPECT_EQ(CodedRuns(entries[1], 0, 2, "index").decoded(),
            placed(far, std::uint64_t{1} << 35, 0, 2));
  EXPECT_EQ(entries[2].runs, 0u);
}

TEST(Index, AHyperslabTakesTwoBytesWhereTheNextOneIsNear) {
  const auto runs = random_runs(1'000'000, 100);
  Bytes index;
  append_entry(index, 0, {1'000'000}, 0, runs);
  EXPECT_LE(index.size(), 2 * runs.size() + 20);
}

TEST(Index, AnIndexThatWasCutOffIsNamedAndNeverReadBeyond) {
  Bytes index;
  append_entry(index, 1, {300}, 0, random_runs(300, 9));
  const auto first = index.size();
  append_entry(index, 2, {300}, 0, random_runs(300, 5));
  for (std::size_t length = 1; length < index.size(); ++length) {
    const auto cut = std::span(index).first(length);
    if (length == first) {
      EXPECT_EQ(entries_of(cut).size(), 1u);
      continue;
    }
    try {
      entries_of(cut);
      ADD_FAILURE() << length << " of " << index.size() << " bytes were taken for an index";
    } catch (const IoError& error) {
      EXPECT_THAT(error.what(), HasSubstr("/_slablog/index0 is damaged"));
    }
  }
}

TEST(Index, AnEntryThatPromisesMoreRunsThanItHoldsIsRefused) {
  Bytes index;
  append_entry(index, 1, {300}, 0, random_runs(300, 9));
  index[5] = std::byte{0x7f};  // the number of runs
  EXPECT_THROW(entries_of(index), IoError);
}

TEST(Index, ElementsKeepTheirCoordinatesWhereTheExtentChanges) {
  const std::vector<Extent> extents = {{6, 8, 10}, {9, 8, 10}, {3, 8, 10}, {6, 5, 10},
                                       {6, 8, 4},  {7, 9, 12}, {2, 12, 7}};
  for (const auto& from : extents) {
    const auto runs = placed(random_runs(element_count(from), 7), 0, 0, 2);
    for (const auto& to : extents) {
      // Position of each element by its place in the new extent.
      std::map<std::uint64_t, std::uint64_t> expected;
      for (const auto& run : runs) {
        for (auto at = run.offset; at < run.end(); ++at) {
          const Extent c = {at / (from[1] * from[2]), at / from[2] % from[1], at % from[2]};
          if (c[0] >= to[0] || c[1] >= to[1] || c[2] >= to[2]) continue;
          expected[(c[0] * to[1] + c[1]) * to[2] + c[2]] = run.position + (at - run.offset) * 2;
        }
      }
      const auto moved = reshaped(runs, from, to, 2);
      EXPECT_TRUE(is_sorted_apart(moved));
      std::map<std::uint64_t, std::uint64_t> found;
      for (const auto& run : moved) {
        for (std::uint64_t i = 0; i < run.length; ++i) {
          found[run.offset + i] = run.position + i * 2;
        }
      }
      EXPECT_EQ(found, expected) << slabmark::to_string(from) << " to " << slabmark::to_string(to);
    }
  }
}

}  // namespace
}  // namespace slabmark::slablog
