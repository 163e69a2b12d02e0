#include "bench/pattern/content.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include <gtest/gtest.h>

namespace slabmark {
namespace {

using Bytes = std::vector<std::byte>;

constexpr ElementType all_types[] = {ElementType::uint8, ElementType::int32, ElementType::int64,
                                     ElementType::float32, ElementType::float64};

Bytes filled(ElementType type, std::size_t dataset, std::uint64_t time, Run run) {
  Bytes bytes(run.length * size_of(type));
  fill_run(type, dataset, time, run, bytes.data());
  return bytes;
}

Pattern one_dataset(ElementType type, std::vector<Dimension> dimensions) {
  Pattern pattern;
  pattern.datasets.push_back({.name = "T",
                              .type = type,
                              .dimensions = std::move(dimensions),
                              .has_time = true,
                              .chunk = {}});
  return pattern;
}

TEST(Contents, AreFoundRightAsTheyWereFilled) {
  for (const ElementType type : all_types) {
    const Bytes bytes = filled(type, 3, 2, {1000, 77});
    EXPECT_EQ(check_run(type, 3, 2, {1000, 77}, bytes.data()), std::nullopt) << name_of(type);
  }
}

TEST(Contents, DoNotDependOnHowARunIsCut) {
  for (const ElementType type : all_types) {
    const Bytes whole = filled(type, 0, 0, {3, 40});
    for (std::uint64_t cut = 0; cut <= 40; ++cut) {
      Bytes parts = filled(type, 0, 0, {3, cut});
      const Bytes rest = filled(type, 0, 0, {3 + cut, 40 - cut});
      parts.insert(parts.end(), rest.begin(), rest.end());
      EXPECT_EQ(parts, whole) << name_of(type) << " cut at " << cut;
    }
  }
}

TEST(Contents, AFlippedBitInAnyByteIsFound) {
  for (const ElementType type : all_types) {
    const slabmark::Run run{500, 9};
    const Bytes good = filled(type, 1, 0, run);
    for (std::size_t i = 0; i < good.size(); ++i) {
      Bytes bad = good;
      bad[i] ^= std::byte{1};
      const auto mismatch = check_run(type, 1, 0, run, bad.data());
      ASSERT_TRUE(mismatch) << name_of(type) << " byte " << i;
      EXPECT_EQ(mismatch->element, run.offset + i / size_of(type));
      EXPECT_EQ(mismatch->count, 1u);
    }
  }
}

TEST(Contents, WrongElementsAreCountedInLongRunsToo) {
  for (const ElementType type : all_types) {
    const slabmark::Run run{77, 3000};
    Bytes bytes = filled(type, 0, 0, run);
    for (const std::size_t element : {511, 512, 513, 2999}) {
      bytes[element * size_of(type)] ^= std::byte{4};
    }
    const auto mismatch = check_run(type, 0, 0, run, bytes.data());
    ASSERT_TRUE(mismatch) << name_of(type);
    EXPECT_EQ(mismatch->element, 77u + 511u);
    EXPECT_EQ(mismatch->count, 4u);
    EXPECT_NE(mismatch->found, mismatch->expected);
  }
}

TEST(Contents, OfAnotherElementTimeOrDatasetAreFoundWrong) {
  for (const ElementType type : all_types) {
    const slabmark::Run run{100, 64};
    const Bytes bytes = filled(type, 1, 5, run);
    // A byte is right by chance once in 256; all others practically never.
    const std::uint64_t most_by_chance = type == ElementType::uint8 ? 6 : 0;
    const auto wrong = [&](std::size_t dataset, std::uint64_t time, std::uint64_t offset) {
      const auto mismatch = check_run(type, dataset, time, {offset, 64}, bytes.data());
      return mismatch ? mismatch->count : 0;
    };
    EXPECT_GE(wrong(1, 5, 101), 64 - most_by_chance) << name_of(type);
    EXPECT_GE(wrong(1, 5, 108), 64 - most_by_chance) << name_of(type);
    EXPECT_GE(wrong(1, 6, 100), 64 - most_by_chance) << name_of(type);
    EXPECT_GE(wrong(2, 5, 100), 64 - most_by_chance) << name_of(type);
    EXPECT_GE(wrong(5, 1, 100), 64 - most_by_chance) << name_of(type);
  }
}

TEST(Contents, OfFloatsAreWholeNumbersThatTheTypeHoldsExactly) {
  std::vector<float> singles(1000);
  fill_run(ElementType::float32, 0, 0, {0, 1000}, reinterpret_cast<std::byte*>(singles.data()));
  std::vector<double> doubles(1000);
  fill_run(ElementType::float64, 0, 0, {0, 1000}, reinterpret_cast<std::byte*>(doubles.data()));
  for (std::size_t i = 0; i < 1000; ++i) {
    EXPECT_EQ(singles[i], std::floor(singles[i]));
    EXPECT_LT(singles[i], 16777216.0F);
    EXPECT_EQ(doubles[i], std::floor(doubles[i]));
    EXPECT_LT(doubles[i], 9007199254740992.0);
  }
  EXPECT_GT(std::set<float>(singles.begin(), singles.end()).size(), 990u);
  EXPECT_EQ(std::set<double>(doubles.begin(), doubles.end()).size(), 1000u);
}

TEST(Contents, AreCheckedBitForBit) {
  std::vector<double> values(1);
  fill_run(ElementType::float64, 0, 0, {0, 1}, reinterpret_cast<std::byte*>(values.data()));
  values[0] = std::nan("");
  EXPECT_TRUE(
      check_run(ElementType::float64, 0, 0, {0, 1}, reinterpret_cast<std::byte*>(values.data())));
}

TEST(Buffers, AreFilledWhereTheSelectionLiesAndMarkedElsewhere) {
  const Pattern pattern = one_dataset(ElementType::int32, {{"y", 2}, {"x", 4}});
  const SelectionPtr inside = select_hyperslabs({4, 6}, {make_box({1, 1}, {2, 4})});
  const Transfer transfer{0, 7, select_all({2, 4}), inside};
  Bytes buffer(buffer_bytes(transfer, pattern.datasets[0]));
  ASSERT_EQ(buffer.size(), 4u * 6u * 4u);
  fill_buffer(pattern, transfer, buffer.data());

  const Bytes row = filled(ElementType::int32, 0, 7, {4, 4});
  EXPECT_TRUE(std::equal(row.begin(), row.end(), buffer.begin() + (2 * 6 + 1) * 4));
  const auto gaps = std::count(buffer.begin(), buffer.end(), gap_byte);
  EXPECT_GE(gaps, (24 - 8) * 4);
  EXPECT_EQ(buffer.front(), gap_byte);
  EXPECT_EQ(buffer.back(), gap_byte);
  EXPECT_EQ(check_buffer(pattern, transfer, buffer.data()), std::nullopt);
}

TEST(Buffers, AreCheckedWithinTheSelectionOnly) {
  const Pattern pattern = one_dataset(ElementType::int32, {{"y", 2}, {"x", 4}});
  const SelectionPtr inside = select_hyperslabs({4, 6}, {make_box({1, 1}, {2, 4})});
  const Transfer transfer{0, 0, select_all({2, 4}), inside};
  Bytes good(buffer_bytes(transfer, pattern.datasets[0]));
  fill_buffer(pattern, transfer, good.data());
  for (std::size_t i = 0; i < good.size(); ++i) {
    Bytes bad = good;
    bad[i] ^= std::byte{0x10};
    const std::size_t row = i / 4 / 6;
    const std::size_t column = i / 4 % 6;
    const bool moves = row >= 1 && row <= 2 && column >= 1 && column <= 4;
    EXPECT_EQ(check_buffer(pattern, transfer, bad.data()).has_value(), moves) << "byte " << i;
  }
}

TEST(Buffers, WithManyWrongElementsTellTheFirstAndCountThem) {
  const Pattern pattern = one_dataset(ElementType::int64, {{"x", 100}});
  const Transfer transfer{0, 0, select_row_runs({100}, {{50, 3}, {10, 4}, {90, 2}}), nullptr};
  Bytes buffer(9 * 8);
  fill_buffer(pattern, transfer, buffer.data());
  for (const std::size_t element : {2, 4, 8}) buffer[8 * element] ^= std::byte{1};
  const auto mismatch = check_buffer(pattern, transfer, buffer.data());
  ASSERT_TRUE(mismatch);
  EXPECT_EQ(mismatch->element, 52u);
  EXPECT_EQ(mismatch->count, 3u);
}

TEST(Mismatches, AreDescribedInOneSentence) {
  const Pattern pattern = one_dataset(ElementType::int32, {{"lev", 72}, {"ncol", 866}});
  const Mismatch one{0, 4, 866 * 5 + 17, "42", "7", 1};
  EXPECT_EQ(
      describe(one, pattern),
      "Dataset \"T\" holds 7 instead of 42 at element (5, 17) of record 4; it is the only wrong "
      "element.");
  const Mismatch many{0, 0, 3, "1", "2", 12};
  EXPECT_EQ(
      describe(many, pattern),
      "Dataset \"T\" holds 2 instead of 1 at element (0, 3) of record 0; it is the first of 12 "
      "wrong elements.");
}

/// Elements count from 0, over the whole array; every time adds 1000.
class Counted : public Content {
 public:
  void fill(std::size_t, std::uint64_t time, const Extent& start, const Extent& count,
            std::byte* out) const override {
    for (std::uint64_t i = 0; i < count[0]; ++i) {
      for (std::uint64_t j = 0; j < count[1]; ++j) {
        const auto value = static_cast<float>(1000 * time + (start[0] + i) * 5 + start[1] + j);
        std::memcpy(out, &value, sizeof value);
        out += sizeof value;
      }
    }
  }
};

Pattern counted_pattern(SelectionPtr file, SelectionPtr buffer) {
  Pattern pattern;
  pattern.datasets = {{"d", ElementType::float32, {{"y", 4}, {"x", 5}}, true, std::nullopt}};
  pattern.transfers = [=](std::uint64_t round) {
    return std::vector<Transfer>{{0, round, file, buffer}};
  };
  pattern.content = std::make_shared<Counted>();
  return pattern;
}

TEST(OwnContents, FillBoxesRunsAndBuffersWithGapsInsteadOfTheHashes) {
  const auto boxes =
      select_hyperslabs({4, 5}, {make_box({2, 1}, {2, 2}), make_box({0, 0}, {1, 2})});
  const std::vector<float> expected = {2011, 2012, 2016, 2017, 2000, 2001};
  const auto runs = select_row_runs({4, 5}, {{11, 2}, {16, 2}, {0, 2}});
  const auto gaps = select_row_runs({9}, {{0, 3}, {5, 3}});
  for (const auto& [file, buffer] : {std::pair{boxes, SelectionPtr()},
                                     std::pair{runs, SelectionPtr()}, std::pair{boxes, gaps}}) {
    const Pattern pattern = counted_pattern(file, buffer);
    const Transfer transfer = pattern.transfers(2).front();
    std::vector<float> values(buffer ? 9 : 6);
    fill_buffer(pattern, transfer, reinterpret_cast<std::byte*>(values.data()));
    auto* bytes = reinterpret_cast<std::byte*>(values.data());
    EXPECT_EQ(check_buffer(pattern, transfer, bytes), std::nullopt);
    if (buffer) values.erase(values.begin() + 3, values.begin() + 5), values.pop_back();
    EXPECT_EQ(values, expected);
  }
}

TEST(OwnContents, AreWhatAWrongElementIsComparedWith) {
  const Pattern pattern = counted_pattern(select_all({4, 5}), nullptr);
  std::vector<float> values(3, 7.0f);
  const auto mismatch =
      check_run(pattern, 0, 1, {6, 3}, reinterpret_cast<const std::byte*>(values.data()));
  ASSERT_TRUE(mismatch);
  EXPECT_EQ(mismatch->expected, "1006");
  EXPECT_EQ(mismatch->found, "7");
  EXPECT_EQ(mismatch->count, 3u);
  EXPECT_EQ(mismatch->element, 6u);
}

}  // namespace
}  // namespace slabmark
