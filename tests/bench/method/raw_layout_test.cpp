#include "bench/method/raw/raw_layout.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace slabmark {
namespace {

Pattern mixed(std::uint64_t rounds) {
  Pattern pattern;
  pattern.name = "mixed";
  pattern.datasets = {{"a", ElementType::float64, {{"x", 10}}, false, std::nullopt},
                      {"t", ElementType::int32, {{"x", 5}}, true, std::nullopt},
                      {"b", ElementType::uint8, {{"y", 3}, {"x", 3}}, false, std::nullopt},
                      {"u", ElementType::float32, {}, true, std::nullopt}};
  pattern.rounds = rounds;
  pattern.transfers = [](std::uint64_t round) {
    return std::vector<Transfer>{{0, 0, select_none({10}), nullptr},
                                 {1, round, select_none({5}), nullptr},
                                 {3, round, select_none({}), nullptr}};
  };
  return pattern;
}

TEST(RawLayout, DatasetsWithoutTimeComeFirstThenOneRecordAfterAnother) {
  const RawLayout layout(mixed(3));
  EXPECT_EQ(layout.offset(0, 0), 0u);
  EXPECT_EQ(layout.offset(2, 0), 80u);
  EXPECT_EQ(layout.offset(1, 0), 89u);
  EXPECT_EQ(layout.offset(3, 0), 109u);
  EXPECT_EQ(layout.offset(1, 2), 89u + 2 * 24u);
  EXPECT_EQ(layout.bytes(), 89u + 3 * 24u);
}

TEST(RawLayout, RecordsAreCountedByTheTimesThatRoundsTouchAlsoWithoutElements) {
  EXPECT_EQ(record_count(mixed(4)), 4u);
}

TEST(RawLayout, AFileBeyond63BitsIsRefused) {
  auto pattern = mixed(1);
  pattern.datasets.push_back({"huge",
                              ElementType::float64,
                              {{"x", std::uint64_t{1} << 40}, {"y", std::uint64_t{1} << 20}},
                              false,
                              std::nullopt});
  EXPECT_THROW(RawLayout{pattern}, InputError);
  EXPECT_TRUE(too_large_for_raw(pattern));
}

TEST(RawLayout, RecordsThatOnlyTogetherExceed63BitsAreRefused) {
  auto pattern = mixed(1);
  pattern.datasets[1].dimensions = {{"x", std::uint64_t{1} << 59}};
  pattern.transfers = [](std::uint64_t) {
    return std::vector<Transfer>{{1, 3, select_none({std::uint64_t{1} << 59}), nullptr}};
  };
  EXPECT_TRUE(too_large_for_raw(pattern));
}

}  // namespace
}  // namespace slabmark
