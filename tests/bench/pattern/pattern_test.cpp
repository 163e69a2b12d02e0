#include "bench/pattern/pattern.hpp"

#include <gtest/gtest.h>

namespace slabmark {
namespace {

TEST(ElementTypes, HaveTheirSizesAndNames) {
  EXPECT_EQ(size_of(ElementType::uint8), 1u);
  EXPECT_EQ(size_of(ElementType::int32), 4u);
  EXPECT_EQ(size_of(ElementType::int64), 8u);
  EXPECT_EQ(size_of(ElementType::float32), 4u);
  EXPECT_EQ(size_of(ElementType::float64), 8u);
  EXPECT_EQ(name_of(ElementType::uint8), "uint8");
  EXPECT_EQ(name_of(ElementType::float64), "float64");
}

TEST(Datasets, HaveTheExtentOfTheirDimensionsWithoutTime) {
  const Dataset dataset{.name = "T",
                        .type = ElementType::float32,
                        .dimensions = {{"lev", 72}, {"ncol", 866}},
                        .has_time = true,
                        .chunk = {}};
  EXPECT_EQ(dataset.extent(), (Extent{72, 866}));
}

TEST(Transfers, MoveWhatTheySelectAndKeepTheGapsOfTheirBuffer) {
  const Dataset dataset{.name = "v",
                        .type = ElementType::float32,
                        .dimensions = {{"x", 9}},
                        .has_time = false,
                        .chunk = {}};
  const SelectionPtr file = select_row_runs({9}, {{1, 2}, {5, 3}});
  EXPECT_EQ(moved_bytes(Transfer{0, 0, file, nullptr}, dataset), 20u);
  EXPECT_EQ(buffer_bytes(Transfer{0, 0, file, nullptr}, dataset), 20u);
  const SelectionPtr inside = select_hyperslabs({3, 7}, {make_box({1, 1}, {1, 5})});
  EXPECT_EQ(moved_bytes(Transfer{0, 0, file, inside}, dataset), 20u);
  EXPECT_EQ(buffer_bytes(Transfer{0, 0, file, inside}, dataset), 84u);
}

TEST(Patterns, SumBytesAndRequestsOverTheirRounds) {
  Pattern pattern;
  pattern.datasets = {{.name = "v",
                       .type = ElementType::int64,
                       .dimensions = {{"x", 9}},
                       .has_time = true,
                       .chunk = {}}};
  pattern.rounds = 3;
  pattern.transfers = [](std::uint64_t round) -> std::vector<Transfer> {
    if (round == 1) return {};
    return {{0, round, select_row_runs({9}, {{0, 2}, {4, 1}}), nullptr}};
  };
  EXPECT_EQ(moved_bytes(pattern), 2u * 3u * 8u);
  EXPECT_EQ(request_count(pattern), 4u);
}

TEST(FilePolicies, SayHowManyFilesThereAreAndHowTheyAreCalled) {
  Pattern pattern;
  pattern.rounds = 3;
  for (const FilePolicy policy : {FilePolicy::one, FilePolicy::appended}) {
    pattern.file_policy = policy;
    EXPECT_EQ(file_count(pattern), 1u);
    EXPECT_EQ(file_path(pattern, "a.dir/#f.h5", 0), "a.dir/#f.h5");
  }
  pattern.file_policy = FilePolicy::a_round;
  EXPECT_EQ(file_count(pattern), 3u);
  pattern.file_policy = FilePolicy::several;
  pattern.files = 7;
  EXPECT_EQ(file_count(pattern), 7u);
  EXPECT_EQ(file_path(pattern, "a.dir/#f.h5", 6), "a.dir/#f_7.h5");
  EXPECT_EQ(file_path(pattern, "a.dir/f", 0), "a.dir/f_1");
}

}  // namespace
}  // namespace slabmark
