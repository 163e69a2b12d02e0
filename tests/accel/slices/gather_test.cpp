#include "accel/slices/gather.hpp"

#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "accel/slices/lines.hpp"
#include "core/base/error.hpp"

namespace slabmark::slice {
namespace {

/// By definition, point by point.
template <class To, class From>
std::vector<To> picked(const std::vector<From>& source, const Points& points, std::size_t pitch) {
  std::vector<To> target(points.rows * pitch, To{-1});
  for (std::uint64_t row = 0; row < points.rows; ++row) {
    for (std::uint64_t i = 0; i < points.columns; ++i) {
      target[row * pitch + i] = static_cast<To>(
          source[points.first + row * points.row_stride + i * points.column_stride]);
    }
  }
  return target;
}

template <class From, class To>
void expect_gathered(const Points& points, ElementType from, ElementType to, std::size_t pitch) {
  std::vector<From> source(20000);
  for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<From>(i) / 3;
  std::vector<To> target(points.rows * pitch, To{-1});
  gather(source.data(), from, points, reinterpret_cast<std::byte*>(target.data()), to,
         pitch * sizeof(To));
  EXPECT_EQ(target, picked<To>(source, points, pitch));
}

// Strides of 1, within a line, beyond a line and so far that the kernel fetches ahead.
const std::vector<Points> cases = {{5, 7, 100, 13, 1}, {0, 7, 100, 13, 5}, {3, 4, 9, 31, 33},
                                   {1, 3, 1, 60, 300}, {2, 3, 1, 1, 300},  {0, 0, 1, 5, 1}};

TEST(Gather, TakesThePointsOfEveryStrideAndLeavesTheGapsBetweenRows) {
  for (const auto& points : cases) {
    const auto f64 = ElementType::float64;
    expect_gathered<double, double>(points, f64, f64, points.columns);
    expect_gathered<double, double>(points, f64, f64, points.columns + 3);
  }
}

TEST(Gather, ConvertsBothWays) {
  for (const auto& points : cases) {
    const auto f64 = ElementType::float64;
    const auto f32 = ElementType::float32;
    expect_gathered<double, float>(points, f64, f32, points.columns + 1);
    expect_gathered<float, double>(points, f32, f64, points.columns);
    expect_gathered<float, float>(points, f32, f32, points.columns);
  }
}

TEST(Gather, RefusesIntegers) {
  const std::int32_t source = 0;
  std::byte target[8];
  EXPECT_THROW(
      gather(&source, ElementType::int32, {0, 1, 1, 1, 1}, target, ElementType::float64, 8),
      InputError);
}

TEST(Gather, TouchesWholeLinesAndAlsoThoseBetweenNearPoints) {
  const auto f64 = ElementType::float64;
  alignas(64) static const double memory[2000] = {};
  const auto lines = [&](const Points& points) { return bytes_touched(memory, points, f64) / 64; };
  EXPECT_EQ(lines({0, 10, 96, 8, 1}), 10U);
  EXPECT_EQ(lines({1, 10, 96, 8, 1}), 20U);  // each row crosses into a second line
  EXPECT_EQ(lines({0, 10, 96, 8, 5}), 50U);  // 36 elements
  EXPECT_EQ(lines({0, 10, 96, 8, 9}), 80U);  // a line each
  EXPECT_EQ(lines({4, 10, 8, 8, 1}), 11U);   // neighbouring rows share one
  EXPECT_EQ(lines({0, 16, 2, 1, 1}), 4U);    // four rows of one point in a line
  EXPECT_EQ(lines({0, 10, 96, 0, 1}), 0U);
}

}  // namespace
}  // namespace slabmark::slice
