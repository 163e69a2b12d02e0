#include "core/geometry/chunk_grid.hpp"

#include <map>

#include <gmock/gmock.h>

#include "core/base/error.hpp"

namespace slabmark {
namespace {

using testing::ElementsAre;

/// Where each element of the array is on the line, by the definition of chunks, element by element.
std::vector<std::uint64_t> places_of(const Extent& extent, const Extent& chunk) {
  std::vector<std::uint64_t> places;
  for (std::uint64_t e = 0; e < element_count(extent); ++e) {
    std::uint64_t rest = e;
    std::uint64_t number = 0, place = 0, chunks = 1, elements = 1;
    for (std::size_t d = extent.size(); d-- > 0;) {
      const std::uint64_t index = rest % extent[d];
      rest /= extent[d];
      number += index / chunk[d] * chunks;
      place += index % chunk[d] * elements;
      chunks *= (extent[d] + chunk[d] - 1) / chunk[d];
      elements *= chunk[d];
    }
    places.push_back(number * elements + place);
  }
  return places;
}

struct Case {
  Extent extent, chunk;
};

class ChunkGridTest : public testing::TestWithParam<Case> {};

TEST_P(ChunkGridTest, PutsEveryRunWhereTheDefinitionOfChunksPutsItsElements) {
  const auto& [extent, chunk] = GetParam();
  const ChunkGrid grid(extent, chunk);
  const auto places = places_of(extent, chunk);
  for (std::uint64_t begin = 0; begin < places.size(); begin += 3) {
    for (std::uint64_t length : {std::uint64_t{1}, std::uint64_t{4}, places.size() - begin}) {
      const slabmark::Run run{begin, std::min<std::uint64_t>(length, places.size() - begin)};
      std::vector<std::uint64_t> found;
      grid.for_each_run(run, [&](slabmark::Run part) {
        for (std::uint64_t p = part.offset; p < part.end(); ++p) found.push_back(p);
      });
      ASSERT_THAT(found, testing::ElementsAreArray(places.begin() + begin,
                                                   places.begin() + begin + run.length))
          << begin << " " << run.length;
      found.clear();
      grid.for_each_part(run, [&](std::uint64_t number, slabmark::Run part) {
        ASSERT_GT(part.length, 0u);
        ASSERT_LE(part.end(), grid.chunk_elements());
        for (std::uint64_t p = part.offset; p < part.end(); ++p) {
          found.push_back(number * grid.chunk_elements() + p);
        }
      });
      ASSERT_THAT(found, testing::ElementsAreArray(places.begin() + begin,
                                                   places.begin() + begin + run.length))
          << begin << " " << run.length;
    }
  }
}

TEST_P(ChunkGridTest, KnowsOfEachChunkItsFirstElementAndHowManyOfItsElementsThereAre) {
  const auto& [extent, chunk] = GetParam();
  const ChunkGrid grid(extent, chunk);
  std::map<std::uint64_t, std::uint64_t> elements;
  std::map<std::uint64_t, std::uint64_t> first;
  const auto places = places_of(extent, chunk);
  for (std::uint64_t e = 0; e < places.size(); ++e) {
    ++elements[places[e] / grid.chunk_elements()];
    first.try_emplace(places[e] / grid.chunk_elements(), e);
  }
  ASSERT_EQ(grid.chunks(), elements.size());
  for (std::uint64_t c = 0; c < grid.chunks(); ++c) {
    EXPECT_EQ(grid.elements_in_array(c), elements[c]) << c;
    EXPECT_EQ(grid.reaches_beyond(c), elements[c] < grid.chunk_elements()) << c;
    const Extent at = grid.first_element(c);
    EXPECT_EQ(offset_of(at.data(), extent), first[c]) << c;
    EXPECT_EQ(grid.chunk_of(at), c);
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, ChunkGridTest,
                         testing::Values(Case{{10}, {4}}, Case{{8}, {8}}, Case{{3}, {5}},
                                         Case{{7, 10}, {3, 4}}, Case{{6, 8}, {2, 8}},
                                         Case{{6, 8}, {6, 3}}, Case{{5, 4, 6}, {2, 3, 4}},
                                         Case{{5, 4, 6}, {1, 4, 6}}, Case{{4, 3, 5}, {3, 2, 5}},
                                         Case{{2, 3, 2, 3}, {1, 2, 2, 2}}));

TEST(ChunkGrid, OfChunksThatSpanAllButTheSlowestDimensionKeepsTheOrder) {
  EXPECT_TRUE(ChunkGrid({9, 5, 6}, {2, 5, 6}).keeps_order());
  EXPECT_TRUE(ChunkGrid({10}, {4}).keeps_order());
  EXPECT_FALSE(ChunkGrid({9, 5, 6}, {2, 5, 3}).keeps_order());
  EXPECT_EQ(ChunkGrid({10}, {4}).elements(), 12u);
}

TEST(ChunkGrid, OfAnEmptyArrayHasNoChunks) {
  const ChunkGrid grid({0, 5}, {1, 5});
  EXPECT_EQ(grid.chunks(), 0u);
  grid.for_each_run({0, 0}, [](slabmark::Run) { ADD_FAILURE(); });
}

TEST(ChunkGrid, RefusesChunksThatDoNotSuitTheArray) {
  EXPECT_THROW(ChunkGrid({4, 5}, {4}), InputError);
  EXPECT_THROW(ChunkGrid({4, 5}, {4, 0}), InputError);
  EXPECT_THROW(ChunkGrid({}, {}), InputError);
}

}  // namespace
}  // namespace slabmark
