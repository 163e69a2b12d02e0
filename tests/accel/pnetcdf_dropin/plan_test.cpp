#include "accel/pnetcdf_dropin/plan.hpp"

#include <vector>

#include <gmock/gmock.h>

namespace slabmark::dropin {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

constexpr std::uint64_t record_bytes = 1000;

/// Variables of 4 x 5 elements of 4 bytes, with records or without.
class PlannedRequestsTest : public testing::Test {
 protected:
  Posted posted(int variable, MPI_Offset record, MPI_Offset row, MPI_Offset rows,
                bool has_records = true) {
    const std::vector<MPI_Offset> start = {record, row, 0}, count = {1, rows, 5};
    const std::size_t skipped = has_records ? 0 : 1;
    const Access access{.kind = Access::Kind::vara,
                        .start = start.data() + skipped,
                        .count = count.data() + skipped};
    const Shape shape = has_records ? Shape{{0, 4, 5}, true} : Shape{{4, 5}, false};
    const auto resolved = geometries_.find(shape, access, 0, true, 1000);
    return {variable, resolved.geometry, resolved.first_record, nullptr};
  }

  const PlaceOf place_of_ = [](ArrayName array) {
    const auto record = array.record == ArrayName::no_record ? 0 : array.record;
    return ArrayPlace{static_cast<std::uint64_t>(array.variable) * 100 +
                          static_cast<std::uint64_t>(record) * record_bytes,
                      4, 20};
  };
  const Comm comm_{MPI_COMM_WORLD};

 private:
  GeometryTable geometries_;
};

TEST_F(PlannedRequestsTest, ServeAgainInOtherRecords) {
  const std::vector<Posted> first = {posted(0, 2, 0, 2), posted(1, 3, 0, 2)},
                            later = {posted(0, 7, 0, 2), posted(1, 8, 0, 2)},
                            apart = {posted(0, 7, 0, 2), posted(1, 9, 0, 2)};
  const PlannedRequests planned(comm_, first);
  EXPECT_EQ(planned.shift_of(RequestKey(first)), 0);
  EXPECT_EQ(planned.shift_of(RequestKey(later)), 5);
  EXPECT_EQ(planned.shift_of(RequestKey(apart)), PlannedRequests::none());
  const auto places = planned.places(5, place_of_);
  ASSERT_THAT(places, SizeIs(2));
  EXPECT_EQ(places[0].offset, 7 * record_bytes);
  EXPECT_EQ(places[1].offset, 100 + 8 * record_bytes);
}

TEST_F(PlannedRequestsTest, ServeForNoOtherRequests) {
  const std::vector<Posted> first = {posted(0, 2, 0, 2), posted(1, 2, 0, 2)};
  const PlannedRequests planned(comm_, first);
  const std::vector<std::vector<Posted>> others = {{posted(0, 2, 0, 2)},
                                                   {posted(1, 2, 0, 2), posted(0, 2, 0, 2)},
                                                   {posted(0, 2, 0, 2), posted(1, 2, 1, 2)}};
  for (const auto& other : others) {
    EXPECT_EQ(planned.shift_of(RequestKey(other)), PlannedRequests::none());
  }
}

TEST_F(PlannedRequestsTest, WithoutRecordsServeAnyShift) {
  const std::vector<Posted> once = {posted(0, 0, 1, 2, false)};
  const PlannedRequests planned(comm_, once);
  EXPECT_EQ(planned.shift_of(RequestKey(once)), PlannedRequests::any());
  EXPECT_EQ(planned.places(7, place_of_).front().offset, 0U);
}

TEST_F(PlannedRequestsTest, BringTheSourcesOfTheirArraysInTheOrderOfTheCalls) {
  const std::vector<Posted> requests = {posted(1, 2, 0, 1), posted(0, 2, 0, 4), posted(1, 2, 3, 1)};
  const PlannedRequests planned(comm_, requests);
  const auto places = planned.places(0, place_of_);
  const FileDomain domain(places, 0);
  const auto items = planned.items(requests, domain, places);
  ASSERT_THAT(items, SizeIs(2));
  EXPECT_THAT(items[0].sources, SizeIs(1));
  ASSERT_THAT(items[1].sources, SizeIs(2));
  EXPECT_EQ(items[1].sources[0].request, 0U);
  EXPECT_EQ(items[1].sources[1].request, 2U);
  EXPECT_EQ(items[1].sources[1].pieces->front().file, 15U);
  EXPECT_EQ(items[1].array, 1U);
}

TEST_F(PlannedRequestsTest, NameTheArraysOfAllRanks) {
  const std::vector<Posted> mine = {posted(comm_.rank(), 2, 0, 1)};
  const PlannedRequests planned(comm_, mine);
  const auto places = planned.places(0, place_of_);
  ASSERT_THAT(places, SizeIs(static_cast<std::size_t>(comm_.size())));
  const auto items = planned.items(mine, FileDomain(places, 0), places);
  for (int rank = 0; rank < comm_.size(); ++rank) {
    EXPECT_THAT(items[static_cast<std::size_t>(rank)].sources,
                SizeIs(rank == comm_.rank() ? 1 : 0));
  }
}

}  // namespace
}  // namespace slabmark::dropin
