#include "core/geometry/extent.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace slabmark {
namespace {

TEST(Extents, CountTheirElements) {
  EXPECT_EQ(element_count(Extent{72, 866}), 62352u);
  EXPECT_EQ(element_count(Extent{}), 1u);
  EXPECT_EQ(element_count(Extent{5, 0, 3}), 0u);
}

TEST(Extents, AreRefusedIfTheirElementsDoNotFitIn63Bits) {
  constexpr std::uint64_t half = std::uint64_t{1} << 62;
  EXPECT_EQ(element_count(Extent{half}), half);
  EXPECT_EQ(element_count(Extent{2 * half - 1}), 2 * half - 1);
  EXPECT_THROW(element_count(Extent{2 * half}), InputError);
  EXPECT_THROW(element_count(Extent{half, 2}), InputError);
  EXPECT_THROW(element_count(Extent{half, half, half}), InputError);
  EXPECT_EQ(element_count(Extent{half, half, 0}), 0u);
}

TEST(Extents, NumberTheirElementsRowByRow) {
  const Extent extent = {3, 4, 5};
  EXPECT_EQ(offset_of(Extent{1, 2, 3}.data(), extent), 33u);
  EXPECT_EQ(indices_of(33, extent), (Extent{1, 2, 3}));
  for (std::uint64_t offset = 0; offset < element_count(extent); ++offset) {
    int indices[3];
    store_indices(offset, extent, indices);
    EXPECT_EQ(offset_of(indices, extent), offset);
  }
  EXPECT_EQ(offset_of(Extent{}.data(), Extent{}), 0u);
  EXPECT_EQ(indices_of(0, Extent{}), Extent{});
}

TEST(Extents, ArePrintedWithTheSlowestDimensionFirst) {
  EXPECT_EQ(to_string(Extent{72, 866}), "72 x 866");
  EXPECT_EQ(to_string(Extent{}), "scalar");
}

}  // namespace
}  // namespace slabmark
