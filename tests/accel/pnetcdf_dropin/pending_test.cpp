#include "accel/pnetcdf_dropin/pending.hpp"

#include <cstdint>
#include <memory>
#include <vector>

#include <gmock/gmock.h>

namespace slabmark::dropin {
namespace {

using testing::ElementsAre;

/// Requests for the first elements of a variable of 32-bit integers.
class Pending : public testing::Test {
 protected:
  static constexpr std::size_t large = 8192;  ///< elements, more than are copied without need

  std::unique_ptr<Request> request(Direction direction, std::int32_t* memory, std::size_t count,
                                   bool buffered = false) {
    const MPI_Offset start = 0, length = static_cast<MPI_Offset>(count);
    const Access access{.kind = Access::Kind::vara, .start = &start, .count = &length};
    auto made = std::make_unique<Request>();
    made->direction = direction;
    made->buffered = buffered;
    made->variable = 7;
    made->type = ElementType::int32;
    made->geometry = geometries_.find(Shape{{1 << 20}, false}, access, 0, false, 1 << 20).geometry;
    made->memory = UserMemory::of({memory, -1, MPI_INT}, ElementType::int32, count, {}, nullptr);
    return made;
  }
  int put(PendingRequests& pending, std::int32_t* memory, std::size_t count,
          bool buffered = false) {
    return pending.add(request(Direction::put, memory, count, buffered));
  }
  static bool is_copied(const PendingRequests& pending, int id) {
    return pending.find(id)->packed != nullptr;
  }

  std::vector<std::int32_t> values_ = std::vector<std::int32_t>(4 * large);

 private:
  GeometryTable geometries_;
};

TEST_F(Pending, GivesEvenIdsToPutsAndOddOnesToGets) {
  PendingRequests pending(CopyPolicy::overlap);
  const int one = put(pending, values_.data(), 1);
  const int other = pending.add(request(Direction::get, values_.data() + 1, 1));
  EXPECT_EQ(one, PendingRequests::first_id);
  EXPECT_EQ(other, PendingRequests::first_id + 3);
  EXPECT_EQ(pending.find(other)->direction, Direction::get);
  EXPECT_EQ(pending.find(one + 1), nullptr) << "of a get that would be";
  EXPECT_THAT(pending.of_kind(NC_PUT_REQ_ALL), ElementsAre(pending.find(one)));
}

TEST_F(Pending, DropsByIdsOrByKind) {
  PendingRequests pending(CopyPolicy::overlap);
  const int ids[] = {put(pending, values_.data(), 1), put(pending, values_.data() + 1, 1),
                     pending.add(request(Direction::get, values_.data() + 2, 1))};
  pending.drop(1, ids + 1);
  EXPECT_EQ(pending.find(ids[1]), nullptr);
  EXPECT_EQ(pending.count(), 2);
  pending.drop(NC_GET_REQ_ALL, nullptr);
  EXPECT_EQ(pending.count(), 1);
  pending.drop({pending.find(ids[0])});
  EXPECT_TRUE(pending.empty());
  EXPECT_EQ(pending.memory().held_bytes(), 0U);
}

TEST_F(Pending, FreesTheBufferOnlyFromItsEnd) {
  PendingRequests pending(CopyPolicy::overlap);
  const int one = put(pending, values_.data(), 2, true);
  const int other = put(pending, values_.data() + 2, 4, true);
  EXPECT_EQ(pending.buffered_bytes(), 24U);
  pending.drop({pending.find(one)});
  EXPECT_EQ(pending.buffered_bytes(), 24U) << "what is before the last one is not free";
  pending.drop({pending.find(other)});
  EXPECT_EQ(pending.buffered_bytes(), 0U);
}

TEST_F(Pending, CopiesSmallPutsAndWatchesLargeOnes) {
  PendingRequests pending(CopyPolicy::overlap);
  const int small = put(pending, values_.data(), 100);
  const int in_place = put(pending, values_.data() + large, large);
  EXPECT_TRUE(is_copied(pending, small));
  EXPECT_FALSE(is_copied(pending, in_place));
  EXPECT_EQ(pending.memory().held_bytes(), 400U);
  pending.memory().check(pending.of_kind(NC_PUT_REQ_ALL));
  EXPECT_EQ(pending.memory().changed_variable(), PutMemory::none_changed);
  std::ranges::fill(values_, 5);
  pending.memory().check(pending.of_kind(NC_PUT_REQ_ALL));
  EXPECT_EQ(pending.memory().changed_variable(), 7);
}

TEST_F(Pending, CopiesAllFromTheFirstPutWhoseMemoryAnotherHas) {
  PendingRequests pending(CopyPolicy::overlap);
  const int one = put(pending, values_.data(), large);
  const int apart = put(pending, values_.data() + large, large);
  const int shared = put(pending, values_.data() + 10, large - 10);
  EXPECT_TRUE(is_copied(pending, one));
  EXPECT_FALSE(is_copied(pending, apart));
  EXPECT_TRUE(is_copied(pending, shared));
  EXPECT_TRUE(is_copied(pending, put(pending, values_.data() + 2 * large, large)));
}

TEST_F(Pending, FollowsThePolicy) {
  PendingRequests always(CopyPolicy::always), never(CopyPolicy::never);
  EXPECT_TRUE(is_copied(always, put(always, values_.data(), large)));
  EXPECT_FALSE(is_copied(never, put(never, values_.data(), 1)));
  EXPECT_FALSE(is_copied(never, put(never, values_.data(), 1)));
}

TEST_F(Pending, HandsOverTheRequestsThatMatch) {
  PendingRequests pending(CopyPolicy::overlap);
  put(pending, values_.data(), 2, true);
  const int kept = pending.add(request(Direction::get, values_.data() + 8, 1));
  std::vector<std::unique_ptr<Request>> taken;
  pending.take([](const Request& request) { return request.direction == Direction::put; },
               [&](std::unique_ptr<Request> request) { taken.push_back(std::move(request)); });
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_TRUE(taken.front()->buffered);
  EXPECT_EQ(pending.count(), 1);
  EXPECT_NE(pending.find(kept), nullptr);
  EXPECT_EQ(pending.buffered_bytes(), 0U);
}

}  // namespace
}  // namespace slabmark::dropin
