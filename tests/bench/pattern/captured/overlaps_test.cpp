#include "bench/pattern/captured/overlaps.hpp"

#include <algorithm>
#include <random>

#include <gmock/gmock.h>

namespace slabmark {
namespace {

using Streams = std::vector<MovedStream>;

constexpr std::uint64_t length = 24;

SelectionPtr runs(RunList list) { return select_row_runs({length}, std::move(list)); }

class FindOverlaps : public testing::Test {
 protected:
  std::uint64_t rank() const { return static_cast<std::uint64_t>(comm.rank()); }
  std::uint64_t ranks() const { return static_cast<std::uint64_t>(comm.size()); }
  /// An equal range of the elements.
  SelectionPtr part(std::uint64_t of) const {
    return runs({equal_range(length, of % ranks(), ranks())});
  }
  std::uint64_t share() const { return length / ranks(); }

  Comm comm{MPI_COMM_WORLD};
};

TEST_F(FindOverlaps, WhatALaterCollectiveCallOfAnotherRankMovesIsSuperseded) {
  const Streams once = {
      {{part(rank()), part(rank() + 1)}, {{{0, 1, false}, share()}, {{0, 2, false}, share()}}}};
  const Overlaps found = find_overlaps(comm, {once, once}, {length, length});
  EXPECT_TRUE(found.of_ranks);
  EXPECT_FALSE(found.in_a_call);
  EXPECT_EQ(found.moved, 2 * length);
  const std::map<std::pair<std::size_t, std::size_t>, RunList> expected = {
      {{0, 0}, {{0, share()}}}, {{1, 0}, {{0, share()}}}};
  EXPECT_EQ(found.superseded, expected);
}

TEST_F(FindOverlaps, RanksThatMoveTheSameInOneCallHaveNoOrder) {
  const SelectionPtr all = select_all({length});
  for (const CallStamp& stamp : {CallStamp{0, 7, false}, CallStamp{0, 0, true}}) {
    const Overlaps found = find_overlaps(comm, {{{{all}, {{stamp, length}}}}}, {length});
    EXPECT_TRUE(found.of_ranks && found.in_a_call);
    EXPECT_EQ(found.moved, 0u);
    EXPECT_TRUE(found.superseded.empty());
  }
}

TEST_F(FindOverlaps, CallsOfOneRankHaveNone) {
  const SelectionPtr all = select_all({length});
  const Overlaps found = find_overlaps(comm, {{{{all}, {{{0, 0, false}, length}}}}}, {length});
  EXPECT_TRUE(found.of_ranks);
  EXPECT_FALSE(found.in_a_call);
  EXPECT_EQ(found.moved, length);
  EXPECT_TRUE(found.superseded.empty());
}

TEST_F(FindOverlaps, PartsOfRanksThatDoNotMeetAreFoundToBeThat) {
  const Overlaps found =
      find_overlaps(comm, {{{{part(rank())}, {{{3, 0, false}, share()}}}}}, {length});
  EXPECT_FALSE(found.of_ranks || found.in_a_call);
  EXPECT_EQ(found.moved, 0u);
  EXPECT_TRUE(found.superseded.empty());
}

/// What some rank moves of some target, element by element.
struct Moved {
  std::uint64_t element;
  CallStamp stamp;
  std::uint64_t rank;
  std::uint64_t position;
};

MovedStream random_stream(std::mt19937& random, std::vector<Moved>& moved, std::uint64_t rank) {
  const auto below = [&](std::uint64_t n) { return random() % n; };
  MovedStream stream;
  std::uint64_t position = 0;
  const std::uint64_t calls = below(4);
  for (std::uint64_t call = 0; call < calls; ++call) {
    const bool is_waited_for = below(4) == 0;
    const CallStamp stamp{below(2), is_waited_for ? 0 : below(4), is_waited_for};
    RunList list;
    for (std::uint64_t at = below(6); at < length; at += 1 + below(6)) {
      const Run run{at, 1 + below(std::min<std::uint64_t>(4, length - at))};
      list.push_back(run);
      for (at = run.offset; at < run.end(); ++at) moved.push_back({at, stamp, rank, position++});
    }
    stream.calls.emplace_back(stamp, total_length(list));
    stream.parts.push_back(list.empty() ? select_none({length}) : runs(std::move(list)));
  }
  return stream;
}

TEST_F(FindOverlaps, RandomCallsAreComparedElementByElement) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    std::vector<Streams> mine;
    Overlaps expected;
    for (std::size_t target = 0; target < 3; ++target) {
      std::vector<Moved> moved;
      for (std::uint64_t of = 0; of < ranks(); ++of) {
        MovedStream stream = random_stream(random, moved, of);
        if (of == rank()) mine.push_back({std::move(stream)});
      }
      for (std::uint64_t element = 0; element < length; ++element) {
        bool is_shared = false;
        for (const Moved& one : moved) {
          if (one.element != element) continue;
          bool is_again = false;
          for (const Moved& other : moved) {
            if (other.element != element) continue;
            is_again = is_again || one.stamp.is_before(other.stamp);
            if (one.rank == other.rank) continue;
            expected.of_ranks = true;
            const bool together = one.stamp == other.stamp && one.stamp.is_collective();
            expected.in_a_call = expected.in_a_call || together;
            is_shared = is_shared || !together;
          }
          if (is_again && one.rank == rank())
            expected.superseded[{target, 0}].push_back({one.position, 1});
        }
        expected.moved += is_shared ? 1 : 0;
      }
    }
    const Overlaps found = find_overlaps(comm, mine, {length, length, length});
    EXPECT_EQ(found.of_ranks, expected.of_ranks) << seed;
    EXPECT_EQ(found.in_a_call, expected.in_a_call) << seed;
    EXPECT_EQ(found.moved, expected.moved) << seed;
    for (auto& [stream, list] : expected.superseded) {
      std::sort(list.begin(), list.end());
      coalesce(list);
    }
    EXPECT_EQ(found.superseded, expected.superseded) << seed;
  }
}

}  // namespace
}  // namespace slabmark
