#include "accel/pnetcdf_dropin/conversion.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <gmock/gmock.h>

namespace slabmark::dropin {
namespace {

using testing::ElementsAre;

template <class From, class To>
bool converted(ElementType from, From value, ElementType to, To& target) {
  return convert(from, &value, to, &target, 1);
}

TEST(Conversion, FitsAlwaysWhereTheRangeIsWider) {
  EXPECT_TRUE(always_fits(ElementType::int16, ElementType::int32));
  EXPECT_FALSE(always_fits(ElementType::int32, ElementType::int16));
  EXPECT_FALSE(always_fits(ElementType::int8, ElementType::uint8));
  EXPECT_TRUE(always_fits(ElementType::uint8, ElementType::int16));
  EXPECT_TRUE(always_fits(ElementType::int64, ElementType::float32)) << "whatever it loses";
  EXPECT_FALSE(always_fits(ElementType::float64, ElementType::float32));
  EXPECT_FALSE(always_fits(ElementType::float32, ElementType::int64));
}

TEST(Conversion, LeavesTextAlone) {
  char text = 'x';
  std::int8_t number = 7;
  EXPECT_TRUE(always_fits(ElementType::character, ElementType::character));
  EXPECT_FALSE(always_fits(ElementType::character, ElementType::int32));
  EXPECT_FALSE(always_fits(ElementType::int8, ElementType::character));
  EXPECT_FALSE(converted(ElementType::int8, number, ElementType::character, text));
  EXPECT_FALSE(converted(ElementType::character, text, ElementType::int8, number));
  EXPECT_TRUE(converted(ElementType::character, 'y', ElementType::character, text));
  EXPECT_EQ(text, 'y');
}

TEST(Conversion, RefusesIntegersThatDoNotFit) {
  std::int16_t target = 0;
  EXPECT_TRUE(converted(ElementType::int32, std::int32_t{-32768}, ElementType::int16, target));
  EXPECT_EQ(target, -32768);
  EXPECT_FALSE(converted(ElementType::int32, std::int32_t{32768}, ElementType::int16, target));
  std::uint64_t large = 0;
  EXPECT_FALSE(converted(ElementType::int64, std::int64_t{-1}, ElementType::uint64, large));
}

TEST(Conversion, RefusesFloatingPointBeyondTheIntegers) {
  std::int32_t target = 0;
  EXPECT_TRUE(converted(ElementType::float64, 2147483646.0, ElementType::int32, target));
  EXPECT_EQ(target, 2147483646);
  EXPECT_FALSE(converted(ElementType::float64, 2147483648.0, ElementType::int32, target));
  EXPECT_FALSE(converted(ElementType::float64, -2147483649.0, ElementType::int32, target));
  EXPECT_FALSE(converted(ElementType::float64, std::nan(""), ElementType::int32, target));
  std::int64_t large = 0;
  EXPECT_FALSE(converted(ElementType::float64, 0x1p63, ElementType::int64, large));
}

TEST(Conversion, LetsNotANumberPassToFloatAndRefusesInfinity) {
  float target = 0;
  EXPECT_TRUE(converted(ElementType::float64, std::nan(""), ElementType::float32, target));
  EXPECT_TRUE(std::isnan(target));
  EXPECT_FALSE(converted(ElementType::float64, std::numeric_limits<double>::infinity(),
                         ElementType::float32, target));
  EXPECT_FALSE(converted(ElementType::float64, 1e300, ElementType::float32, target));
}

TEST(Conversion, NeedsNoAlignedMemory) {
  std::vector<char> memory(1 + 2 * sizeof(std::int32_t));
  const std::int16_t values[] = {-5, 1234};
  ASSERT_TRUE(convert(ElementType::int16, values, ElementType::int32, memory.data() + 1, 2));
  std::vector<std::int32_t> converted(2);
  ASSERT_TRUE(
      convert(ElementType::int32, memory.data() + 1, ElementType::int32, converted.data(), 2));
  EXPECT_THAT(converted, ElementsAre(-5, 1234));
}

}  // namespace
}  // namespace slabmark::dropin
