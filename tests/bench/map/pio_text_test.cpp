#include <gtest/gtest.h>

#include "bench/map/map_files.hpp"

namespace slabmark {
namespace {

/// Three ranks of a 2 x 6 array in C order: 12 elements, of which number 12 is nobody's.
const std::string sound_text =
    "version 2001 npes 3 ndims 2 \n6 2 \n"
    "0 5\n3 2 1 0 7 \n"
    "1 3\n0 0 0 \n"
    "2 7\n8 9 10 11 4 5 6 \n"
    "\nObtained 10 stack frames.\n/e3sm.exe() [0x13ff8e7]\n";

class PioTextMaps : public testing::Test {
 protected:
  std::unique_ptr<MapFile> open(const std::string& content) {
    make_file(comm_, path_, content);
    return open_map(comm_, path_);
  }
  void expect_bad(const std::string& content, const std::vector<std::string>& parts) {
    expect_bad_input(
        [&] {
          const auto file = open(content);
          file->read(0, comm_.rank(), comm_.size());
        },
        parts);
    comm_.barrier();
  }
  std::string replaced(const std::string& from, const std::string& to) const {
    std::string text = sound_text;
    return text.replace(text.find(from), from.size(), to);
  }

  Comm comm_{MPI_COMM_WORLD};
  Scratch scratch_{comm_};
  std::string path_ = scratch_.file("map.dat");
};

TEST_F(PioTextMaps, DimensionsAreReversedAndRunsSortedMergedAndCutAtColumns) {
  const auto file = open(sound_text);
  EXPECT_EQ(file->layout(), "PIO text");
  ASSERT_EQ(file->maps().size(), 1);
  EXPECT_EQ(file->maps()[0].dims, (Extent{2, 6}));
  EXPECT_EQ(file->maps()[0].recorded_ranks, 3);
  const std::vector<RunList> expected = {{{0, 3}, {6, 1}}, {}, {{3, 3}, {7, 4}}};
  EXPECT_EQ(rows_of(*file, 0), expected);
}

TEST_F(PioTextMaps, ARankStandsForItsBlockOfRecordedRanks) {
  const auto file = open(sound_text);
  const MapPart part = file->read(0, 0, 1);
  EXPECT_EQ(part.runs, (RunList{{0, 6}, {6, 5}}));  // merged across ranks, cut at the row of 6
  EXPECT_EQ(part.raw_requests, 4 + 7);
}

TEST_F(PioTextMaps, MoreRanksThanRecordedLeaveSomeWithNothing) {
  const auto file = open(sound_text);
  EXPECT_EQ(file->read(0, 2, 5).runs, (RunList{{3, 3}, {7, 4}}));
  EXPECT_TRUE(file->read(0, 4, 5).runs.empty());
}

TEST_F(PioTextMaps, ARankWithoutEntriesMayHaveAnEmptyLineOrNone) {
  EXPECT_TRUE(open(replaced("1 3\n0 0 0 \n", "1 0\n\n"))->read(0, 1, 3).runs.empty());
  EXPECT_TRUE(open(replaced("1 3\n0 0 0 \n", "1 0\n"))->read(0, 1, 3).runs.empty());
  EXPECT_EQ(open(replaced("1 3\n0 0 0 \n", "1 0\n"))->read(0, 2, 3).raw_requests, 7);
}

TEST_F(PioTextMaps, ALineOfManyMegabytesIsRead) {
  const std::uint64_t entries = 400'000;  // 2.7 MB
  std::string content = "version 2001 npes 2 ndims 1 \n400000 \n0 400000\n";
  for (std::uint64_t i = entries; i > 0; --i) content += std::to_string(i) + " ";
  content += "\n1 1\n0 \n\n";
  const auto file = open(content);
  const MapPart part = file->read(0, 0, 2);
  EXPECT_EQ(part.runs, (RunList{{0, entries}}));
  EXPECT_EQ(part.raw_requests, entries);
}

TEST_F(PioTextMaps, AFileWithoutTrailerIsSound) {
  EXPECT_EQ(open(sound_text.substr(0, sound_text.find("\nObtained")))->maps()[0].recorded_ranks, 3);
}

TEST_F(PioTextMaps, AnOffsetBeyondTheArrayIsAnErrorThatNamesRankAndValue) {
  expect_bad(replaced("11 4", "13 4"), {"Rank 2", "13", "12 elements", path_});
}

TEST_F(PioTextMaps, AHugeOffsetIsAnErrorAndDoesNotWrapRound) {
  expect_bad(replaced("11 4", "18446744073709551617 4"), {"Rank 2", "18446744073709551617"});
}

TEST_F(PioTextMaps, ANegativeOffsetIsAnErrorThatNamesRankAndValue) {
  expect_bad(replaced("3 2 1", "-3 2 1"), {"Rank 0", "\"-3\""});
}

TEST_F(PioTextMaps, WordsAmongTheOffsetsAreErrors) {
  expect_bad(replaced("11 4", "1x 4"), {"Rank 2", "\"1x\""});
}

TEST_F(PioTextMaps, AnElementTwiceInARankIsAnErrorThatNamesBoth) {
  expect_bad(replaced("11 4", "4 4"), {"Element 3", "recorded rank 2"});
}

TEST_F(PioTextMaps, AnElementOfTwoRanksIsReadOnceByWhomOwnsBoth) {
  const auto file = open(replaced("11 4", "11 7"));
  EXPECT_NO_THROW(rows_of(*file, 0));
  const MapPart whole = file->read(0, 0, 1);
  EXPECT_TRUE(whole.is_shared);
  EXPECT_EQ(find_overlap(whole.runs), std::nullopt);
  EXPECT_FALSE(file->read(0, 0, 3).is_shared);
  EXPECT_EQ(owners_of(comm_, *file, 0, 6), (std::array<std::uint64_t, 2>{0, 2}));
}

TEST_F(PioTextMaps, FewerOrMoreEntriesThanAnnouncedAreErrors) {
  expect_bad(replaced("3 2 1 0 7", "3 2 1 7"), {"Rank 0", "4 entries", "5 are announced"});
  expect_bad(replaced("3 2 1 0 7", "3 2 1 0 0 7"), {"Rank 0", "6 entries"});
}

TEST_F(PioTextMaps, AMissingRankIsAnErrorThatNamesIt) {
  expect_bad(replaced("1 3\n0 0 0 \n", ""), {"rank 1 of 3 is missing"});
  expect_bad(replaced("2 7\n8 9 10 11 4 5 6 \n", ""), {"rank 2 of 3 is missing"});
}

TEST_F(PioTextMaps, ARankThatIsThereTwiceOrUnknownIsAnError) {
  expect_bad(replaced("1 3\n", "0 3\n"), {"rank 0 is there twice"});
  expect_bad(replaced("1 3\n", "3 3\n"), {"rank 3", "3 ranks"});
}

TEST_F(PioTextMaps, AFileCutOffAnywhereIsAnError) {
  // The last byte that matters ends the entries of the last rank.
  const std::size_t needed = sound_text.find("\n\nObtained") + 1;
  for (std::size_t bytes = 0; bytes < needed; ++bytes) {
    SCOPED_TRACE(bytes);
    expect_bad(sound_text.substr(0, bytes), {path_});
  }
}

TEST_F(PioTextMaps, OtherVersionsAreRefused) {
  expect_bad(replaced("2001", "2002"), {"2002", "2001"});
}

TEST_F(PioTextMaps, DimensionsMustBeAsManyAsAnnouncedAndPositive) {
  expect_bad(replaced("6 2 \n", "6 2 1 \n"), {"2 dimensions", "3"});
  expect_bad(replaced("6 2 \n", "6 0 \n"), {"dimension is 0"});
  expect_bad(replaced("6 2 \n", "6 -2 \n"), {"line 2"});
}

TEST_F(PioTextMaps, AnAbsurdNumberOfRanksIsNotBelieved) {
  expect_bad(replaced("npes 3", "npes 999999999999"), {"999999999999 ranks"});
}

}  // namespace
}  // namespace slabmark
