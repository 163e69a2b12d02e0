#include "core/base/number.hpp"

#include <functional>
#include <limits>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace slabmark {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();

std::string message_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Counts, AreWholeDecimalNumbers) {
  EXPECT_EQ(parse_count("0", "-n"), 0u);
  EXPECT_EQ(parse_count("0042", "-n"), 42u);
  EXPECT_EQ(parse_count("18446744073709551615", "-n"), largest);
}

TEST(Triples, AreThreeCountsWithCommas) {
  EXPECT_EQ(parse_triple("2,1,40", "--grid"), (std::array<std::uint64_t, 3>{2, 1, 40}));
  EXPECT_EQ(parse_triple("2x1x40", "--grid"), (std::array<std::uint64_t, 3>{2, 1, 40}));
  for (const char* text : {"", "2", "2,1", "2,1,", "2,1,4,", "2,1,4,5", "2,1,x", "2 ,1,4", "2x1,4",
                           "2x1", "2x1x", "x1x4"}) {
    EXPECT_THROW(parse_triple(text, "--grid"), InputError) << '"' << text << '"';
  }
  EXPECT_THAT(message_of([] { parse_triple("2,0,4", "--grid"); }), HasSubstr("--grid"));
  EXPECT_EQ(parse_triple("2,0,4", "--grid", 0)[1], 0u);
}

TEST(Counts, AreRefusedIfAnythingButDigitsIsThere) {
  for (const char* text :
       {"", " 1", "1 ", "+1", "1.0", "1e3", "0x10", "x", "-", "1-", "--1", "1K"}) {
    EXPECT_THROW(parse_count(text, "-n"), InputError) << '"' << text << '"';
  }
}

TEST(Counts, AreRefusedBeyondTheirRange) {
  EXPECT_EQ(parse_count("1", "-n", 1, 8), 1u);
  EXPECT_EQ(parse_count("8", "-n", 1, 8), 8u);
  for (const char* text : {"0", "9", "-3", "18446744073709551616"}) {
    EXPECT_THAT(message_of([&] { parse_count(text, "-n", 1, 8); }), HasSubstr("out of range"))
        << text;
  }
}

TEST(Counts, AreRefusedWithASentenceThatNamesOptionValueAndRemedy) {
  EXPECT_EQ(message_of([] { parse_count("x", "-n", 1, 8); }),
            "-n is \"x\", which is not a whole number; give a whole number from 1 to 8.");
}

TEST(Sizes, TakeSuffixesForPowersOf1024) {
  EXPECT_EQ(parse_size("17", "size"), 17u);
  EXPECT_EQ(parse_size("256K", "size"), 256u << 10);
  EXPECT_EQ(parse_size("3m", "size"), 3u << 20);
  EXPECT_EQ(parse_size("5G", "size"), 5ull << 30);
  EXPECT_EQ(parse_size("2t", "size"), 2ull << 40);
  EXPECT_EQ(parse_size("16777215T", "size"), 16777215ull << 40);
}

TEST(Sizes, AreRefusedIfTheyOverflow) {
  EXPECT_THAT(message_of([] { parse_size("16777216T", "size"); }), HasSubstr("too large"));
  EXPECT_THAT(message_of([] { parse_size("18446744073709551616", "size"); }),
              HasSubstr("too large"));
}

TEST(Sizes, AreRefusedIfTheyAreNoNumberWithASuffix) {
  for (const char* text : {"", "K", "1KB", "1 K", "1.5M", "-1K", "K1", "1P"}) {
    EXPECT_THROW(parse_size(text, "size"), InputError) << '"' << text << '"';
  }
}

TEST(Reals, AreFiniteDecimals) {
  EXPECT_DOUBLE_EQ(parse_real("0.25", "seconds"), 0.25);
  EXPECT_DOUBLE_EQ(parse_real("1e-3", "seconds"), 1e-3);
  EXPECT_DOUBLE_EQ(parse_real("-2", "offset", -3), -2.0);
  for (const char* text : {"", "inf", "nan", "1e999", "1,5", "1s", " 1", "0x1", "-0.5"}) {
    EXPECT_THROW(parse_real(text, "seconds"), InputError) << '"' << text << '"';
  }
}

TEST(FormattedBytes, UseTheLargestUnitOfAtLeastOne) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1024), "1.00 KiB");
  EXPECT_EQ(format_bytes(279948960), "266.98 MiB");
  EXPECT_EQ(format_bytes((1ull << 30) - 1), "1024.00 MiB");
  EXPECT_EQ(format_bytes(1ull << 40), "1.00 TiB");
  EXPECT_EQ(format_bytes(largest), "16.00 EiB");
}

}  // namespace
TEST(Products, StopAtTheLargestNumber) {
  constexpr auto most = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(product_or_most(std::uint64_t{1} << 32, std::uint64_t{1} << 31),
            std::uint64_t{1} << 63);
  EXPECT_EQ(product_or_most(std::uint64_t{1} << 63, 2), most);
  EXPECT_EQ(product_or_most(most, 0), 0u);
}

}  // namespace slabmark
