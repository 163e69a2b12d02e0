#include <array>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/pattern/synthetic/curve.hpp"
#include "bench/pattern/synthetic/mesh.hpp"
#include "core/base/error.hpp"

namespace slabmark {
namespace {

using Place = std::array<std::int64_t, 3>;

/// Where node (u, v) of a face lies on the surface of a cube with edges of n.
Place place_on_cube(std::uint64_t face, std::int64_t u, std::int64_t v, std::int64_t n) {
  const std::array<Place, 6> places = {
      Place{u, 0, v},     Place{n, u, v},     Place{n - u, n, v},
      Place{0, n - u, v}, Place{u, n - v, 0}, Place{u, v, n},
  };
  return places[face];
}

/// The nodes that an element owns, found by remembering every place met so far, as
/// (slot in the element, column).
std::vector<std::pair<std::uint64_t, std::uint64_t>> owned_by_search(
    std::uint64_t ne, std::uint64_t element, std::map<Place, std::uint64_t>& met) {
  const std::uint64_t face = element / (ne * ne);
  const std::uint64_t j = element / ne % ne;
  const std::uint64_t i = element % ne;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> owned;
  for (std::uint64_t slot = 0; slot < 16; ++slot) {
    const auto u = static_cast<std::int64_t>(3 * i + slot % 4);
    const auto v = static_cast<std::int64_t>(3 * j + slot / 4);
    const Place place = place_on_cube(face, u, v, static_cast<std::int64_t>(3 * ne));
    if (met.emplace(place, met.size()).second) owned.emplace_back(slot, met.size() - 1);
  }
  return owned;
}

std::vector<std::pair<std::uint64_t, std::uint64_t>> owned_by_formula(const CubedSphere& mesh,
                                                                      std::uint64_t element) {
  const CubedSphere::Owned o = mesh.owned(element);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> owned;
  std::uint64_t column = o.first_column;
  for (std::uint64_t v = o.v_begin; v < o.v_end; ++v) {
    for (std::uint64_t u = o.u_begin; u < o.u_end; ++u) owned.emplace_back(4 * v + u, column++);
  }
  return owned;
}

TEST(CubedSphere, ColumnsAreThoseOfNodesMetFirstOnTheCubesSurface) {
  for (const std::uint64_t ne : {1, 2, 3, 5}) {
    const CubedSphere mesh(ne);
    std::map<Place, std::uint64_t> met;
    for (std::uint64_t element = 0; element < mesh.element_count(); ++element) {
      const auto expected = owned_by_search(ne, element, met);
      EXPECT_EQ(owned_by_formula(mesh, element), expected) << "ne " << ne << " element " << element;
      EXPECT_EQ(mesh.owned(element).count(), expected.size());
    }
    EXPECT_EQ(met.size(), mesh.column_count()) << "ne " << ne;
  }
}

TEST(SpaceFillingCurve, VisitsEveryCellOnceAndMovesToANeighbour) {
  for (const std::uint64_t ne : {1, 2, 3, 4, 5, 6, 9, 10, 12, 15, 25, 30}) {
    const auto curve = space_filling_curve(ne);
    ASSERT_EQ(curve.size(), ne * ne);
    std::vector<std::uint64_t> cell_at(ne * ne, ne * ne);
    for (std::uint64_t cell = 0; cell < curve.size(); ++cell) cell_at.at(curve[cell]) = cell;
    EXPECT_EQ(cell_at[0], 0U) << "starts at the origin, ne " << ne;
    for (std::uint64_t n = 0; n < cell_at.size(); ++n) {
      ASSERT_LT(cell_at[n], ne * ne) << "number " << n << " is missing, ne " << ne;
      if (n == 0) continue;
      const auto a = static_cast<std::int64_t>(cell_at[n - 1]);
      const auto b = static_cast<std::int64_t>(cell_at[n]);
      const auto side = static_cast<std::int64_t>(ne);
      EXPECT_EQ(std::abs(a / side - b / side) + std::abs(a % side - b % side), 1)
          << "step to number " << n << ", ne " << ne;
    }
  }
}

std::string message_for(std::uint64_t ne) {
  try {
    require_curve_size(ne);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(SpaceFillingCurve, SizesWithOtherPrimeFactorsAreRefusedNamingTheNearestThatWork) {
  using testing::HasSubstr;
  EXPECT_THAT(message_for(7), HasSubstr("6 or ne 8"));
  EXPECT_THAT(message_for(7), HasSubstr("ne 7 "));
  EXPECT_THAT(message_for(49), HasSubstr("nearest that works is ne 48 or ne 50"));
  EXPECT_THAT(message_for(121), HasSubstr("nearest that works is ne 120."));
  EXPECT_THAT(message_for(0), HasSubstr("ne 0 is out of range"));
  EXPECT_THAT(message_for(3001), HasSubstr("ne 3001 is out of range"));
  for (const std::uint64_t works : {1, 4, 30, 45, 120, 1024, 3000}) {
    EXPECT_EQ(message_for(works), "");
  }
}

}  // namespace
}  // namespace slabmark
