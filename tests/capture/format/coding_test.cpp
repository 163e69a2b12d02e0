#include "capture/format/coding.hpp"

#include <random>

#include <gmock/gmock.h>

#include "capture/format/spool_frame.hpp"
#include "capture/read/byte_reader.hpp"
#include "core/base/error.hpp"

namespace slabmark {
namespace {

using capture::Bytes;
using capture::Column;
using testing::HasSubstr;
using Numbers = std::vector<std::int64_t>;

const std::string place = "The events";

std::string refusal(const std::function<void()>& read) {
  try {
    read();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

Numbers read_column(const Bytes& bytes, std::size_t n) {
  Numbers numbers(n);
  ByteReader reader(bytes, place);
  reader.column(n, [&](std::uint64_t i, std::int64_t value) { numbers[i] = value; });
  EXPECT_TRUE(reader.at_end());
  return numbers;
}

TEST(Coding, NumbersOfAllLengthsComeBack) {
  std::vector<std::uint64_t> numbers = {0, 1, 127, 128, 16383, 16384, ~std::uint64_t{0}};
  for (unsigned bit = 0; bit < 64; ++bit) numbers.push_back(std::uint64_t{1} << bit);
  for (const std::uint64_t number : numbers) {
    Bytes bytes;
    capture::put_varint(bytes, number);
    EXPECT_EQ(bytes.size(), varint_bytes(number));
    EXPECT_EQ(ByteReader(bytes, place).varint(), number);
    bytes.clear();
    const auto sign = static_cast<std::int64_t>(number);
    capture::put_signed(bytes, sign);
    EXPECT_EQ(ByteReader(bytes, place).signed_varint(), sign);
  }
}

TEST(Coding, DifferencesBeyondTheLargestNumberComeBack) {
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(capture::sum(least, capture::difference(most, least)), most);
  EXPECT_EQ(capture::sum(most, capture::difference(least, most)), least);
}

TEST(Coding, AColumnTakesTheShortestOfItsForms) {
  const auto form_of = [](const Numbers& numbers) {
    Bytes bytes;
    capture::put_column(bytes, numbers);
    EXPECT_EQ(read_column(bytes, numbers.size()), numbers);
    return static_cast<Column>(bytes.front());
  };
  EXPECT_EQ(form_of({}), Column::constant);
  EXPECT_EQ(form_of({5}), Column::constant);
  EXPECT_EQ(form_of(Numbers(1000, -3)), Column::constant);
  EXPECT_EQ(form_of({1, 2, 3}), Column::plain);
  EXPECT_EQ(form_of({1000, 1000, 1000, 1000, 7}), Column::runs);
}

TEST(Coding, RandomColumnsComeBack) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 2000; ++i) {
    Numbers numbers(random() % 50);
    std::int64_t value = 0;
    for (std::int64_t& number : numbers) {
      if (random() % 3 == 0) value = static_cast<std::int64_t>(random()) >> random() % 64;
      number = value;
    }
    Bytes bytes;
    capture::put_column(bytes, numbers);
    EXPECT_EQ(read_column(bytes, numbers.size()), numbers);
  }
}

TEST(Coding, WhatIsNoNumberIsRefusedAtItsByte) {
  const auto refused = [](const Bytes& bytes) {
    return refusal([&] { ByteReader(bytes, place).varint(); });
  };
  EXPECT_EQ(refused({}), "The events are damaged at byte 0: they end within a number.");
  EXPECT_THAT(refused({128, 129}), HasSubstr("at byte 2: they end within a number"));
  EXPECT_THAT(refused(Bytes(10, 255)), HasSubstr("a number has more than 64 bits"));
  EXPECT_THAT(refused(Bytes(11, 128)), HasSubstr("a number has more than 64 bits"));
}

TEST(Coding, WhatIsNoColumnIsRefused) {
  const auto refused = [](const Bytes& bytes) {
    return refusal([&] { ByteReader(bytes, place).column(4, [](auto, auto) {}); });
  };
  EXPECT_THAT(refused({3}), HasSubstr("form of a column is 3, more than 2"));
  EXPECT_THAT(refused({2, 0, 1}), HasSubstr("a run of a column is empty"));
  EXPECT_THAT(refused({2, 5, 1}), HasSubstr("run of a column is 5, more than 4"));
  EXPECT_THAT(refused({1, 1, 1, 1}), HasSubstr("they end within a number"));
}

TEST(SpoolFrame, TheChecksumTellsEveryFieldAndByte) {
  using capture::SpoolFrame;
  const std::vector<std::byte> payload(11, std::byte{7});
  SpoolFrame frame;
  frame.process = 1, frame.number = 2, frame.stream = 3, frame.bytes = 11;
  std::set<std::uint64_t> checksums = {frame.checksum_of(payload)};
  const auto add = [&](auto SpoolFrame::*field) {
    SpoolFrame other = frame;
    ++(other.*field);
    checksums.insert(other.checksum_of(payload));
  };
  add(&SpoolFrame::process);
  add(&SpoolFrame::number);
  add(&SpoolFrame::stream);
  add(&SpoolFrame::bytes);
  for (std::size_t i = 0; i < payload.size(); ++i) {
    std::vector<std::byte> other = payload;
    other[i] ^= std::byte{1};
    checksums.insert(frame.checksum_of(other));
  }
  EXPECT_EQ(checksums.size(), 5 + payload.size());
}

}  // namespace
}  // namespace slabmark
