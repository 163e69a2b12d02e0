#include "bench/pattern/read_shape.hpp"

#include <gmock/gmock.h>

#include "core/base/error.hpp"

namespace slabmark {
namespace {

// Two ranks have every second column each, at seven times.
Pattern written_by(std::uint64_t rank) {
  Pattern pattern;
  pattern.datasets.push_back(
      {.name = "t", .dimensions = {{"z", 5}, {"x", 4}}, .has_time = true, .chunk = {}});
  pattern.datasets.push_back(
      {.name = "p", .dimensions = {{"x", 4}}, .has_time = true, .chunk = {}});
  pattern.rounds = 7;
  RunList runs;
  for (std::uint64_t i = rank; i < 20; i += 2) runs.push_back({i, 1});
  const auto file = select_row_runs({5, 4}, runs);
  pattern.transfers = [file](std::uint64_t round) {
    return std::vector<Transfer>{{0, round, file, nullptr}, {1, round, select_all({4}), nullptr}};
  };
  return pattern;
}

std::vector<Run> runs_of(const Transfer& transfer) {
  std::vector<Run> runs;
  transfer.file->for_each_run([&](Run run) { append(runs, run); });
  return runs;
}

using Shaped = std::pair<ReadShape, std::vector<Run>>;
class ReadShapeTest : public testing::TestWithParam<Shaped> {};

TEST_P(ReadShapeTest, IsOfTheFirstDatasetAndReadByOneRank) {
  const auto [shape, expected] = GetParam();
  const bool series = shape == ReadShape::series;
  const Pattern reader = make_read_pattern(written_by(1), shape, true);
  const Pattern other = make_read_pattern(written_by(0), shape, false);
  ASSERT_EQ(reader.rounds, series ? 7u : 1u);
  for (std::uint64_t round = 0; round < reader.rounds; ++round) {
    const auto transfers = reader.transfers(round);
    ASSERT_EQ(transfers.size(), 1u);
    EXPECT_EQ(transfers[0].dataset, 0u);
    EXPECT_EQ(transfers[0].time, series ? round : 3u);
    EXPECT_EQ(runs_of(transfers[0]), expected);
    EXPECT_EQ(other.transfers(round)[0].file->element_count(), 0u);
    EXPECT_EQ(other.transfers(round)[0].time, transfers[0].time);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, ReadShapeTest,
                         testing::Values(Shaped{ReadShape::series, {{1, 1}}},
                                         Shaped{ReadShape::level, {{8, 4}}},
                                         Shaped{ReadShape::field, {{0, 20}}}));

TEST(ReadShape, NeedsOneFileAndAnElementOfTheReadersOwn) {
  Pattern several = written_by(0);
  several.file_policy = FilePolicy::a_round;
  EXPECT_THROW(make_read_pattern(several, ReadShape::field, true), InputError);
  Pattern none = written_by(0);
  none.transfers = [](std::uint64_t round) {
    return std::vector<Transfer>{{0, round, select_none({5, 4}), nullptr}};
  };
  EXPECT_THROW(make_read_pattern(none, ReadShape::series, true), InputError);
}

TEST(ReadShape, CountsWhatARankHasOfTheFirstDataset) {
  EXPECT_EQ(elements_of_first(written_by(0)), 10u);
}

}  // namespace
}  // namespace slabmark
