#include "collective/plan.hpp"

#include <array>
#include <cstring>
#include <map>
#include <random>
#include <tuple>

#include <gmock/gmock.h>

#include "collective/context.hpp"
#include "collective/plan_cache.hpp"

namespace slabmark::collective {
namespace {

constexpr std::uint64_t elements = 40;
using Value = std::uint64_t;

/// A request of a rank: pieces of the array, each element of which has a value of its own.
struct Drawn {
  std::vector<Piece> pieces;
  std::vector<Value> memory;
  bool repeats = false;
  std::uint64_t call = 0;  ///< number of the collective call

  /// Elements of the array by element of the memory.
  template <class Visit>
  void for_each(const Visit& visit) const {
    for (const Piece& piece : pieces) {
      for (std::uint64_t i = 0; i < piece.length; ++i) visit(piece.file + i, piece.buffer + i);
    }
  }
};

Drawn drawn(std::mt19937_64& random, int rank, std::uint64_t request, bool repeats) {
  Drawn made;
  made.repeats = repeats;
  for (std::uint64_t at = random() % 5; at < elements;) {
    const std::uint64_t length = std::min(1 + random() % 6, elements - at);
    made.pieces.push_back({at, made.memory.size(), length});
    for (std::uint64_t i = 0; i < length; ++i) {
      made.memory.push_back((static_cast<Value>(rank) << 32) + (request << 16) +
                            made.memory.size());
    }
    at += repeats ? random() % 3 : length + random() % 8;
  }
  made.call = random() % 3;
  return made;
}

/// The file in memory, moved by a plan of one array.
class CollectivePlan : public testing::Test {
 protected:
  CollectivePlan() {
    RearrangerSettings settings;
    settings.aggregators = 2;
    EXPECT_TRUE(context.prepare(settings));
  }

  Plan plan(std::span<const Drawn> requests, const Plan::Request& request) {
    Item item{0, {}, "v"};
    for (std::size_t r = 0; r < requests.size(); ++r) {
      item.sources.push_back(
          {r, std::make_shared<const std::vector<Piece>>(requests[r].pieces), requests[r].repeats});
    }
    return Plan(context.comm(), domain, {item}, {context.rearranger().aggregators(), 64}, request);
  }

  /// This aggregator's part of the file.
  std::map<std::uint64_t, Value> write(const Plan& made, std::vector<Drawn>& requests) {
    std::map<std::uint64_t, Value> file;
    std::vector<std::byte> staging;
    const auto buffers = made.buffers(memory_of(requests), staging);
    context.rearranger().write(
        {domain, made.flush(), buffers, fresh},
        [&](std::uint64_t offset, const std::byte* memory, std::uint64_t bytes) {
          for (std::uint64_t i = 0; i < bytes; i += 8) {
            std::memcpy(&file[(offset + i - begin) / 8], memory + i, 8);
          }
        });
    return file;
  }

  static std::vector<std::byte*> memory_of(std::vector<Drawn>& requests) {
    std::vector<std::byte*> memory;
    for (Drawn& one : requests) memory.push_back(reinterpret_cast<std::byte*>(one.memory.data()));
    return memory;
  }

  static constexpr std::uint64_t begin = 64;
  Context context{MPI_COMM_WORLD};
  const Comm& comm = context.comm();
  const FileDomain domain{std::vector<ArrayPlace>{{begin, 8, elements}}, 0};
  const std::vector<bool> fresh{false};
};

TEST_F(CollectivePlan, WritesOfEachElementTheLastCallThenTheHighestRankThenTheLastRequest) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::mt19937_64 random(seed);
    const bool has_orders = seed % 2 == 1;
    using Claim = std::tuple<std::uint64_t, int, std::uint64_t, std::uint64_t>;
    std::map<std::uint64_t, std::pair<Claim, Value>> expected;
    std::vector<Drawn> mine;
    for (int rank = 0; rank < comm.size(); ++rank) {
      // Where calls have an order, a rank's own elements do not repeat.
      std::vector<Drawn> of_rank;
      const std::uint64_t requests = has_orders ? 1 : random() % 4;
      for (std::uint64_t r = 0; r < requests; ++r) {
        of_rank.push_back(drawn(random, rank, r, !has_orders && random() % 2 == 0));
        of_rank.back().for_each([&](std::uint64_t element, std::uint64_t place) {
          const Claim claim{has_orders ? of_rank.back().call : 0, rank, r, place};
          auto& known = expected.try_emplace(element, claim, Value{}).first->second;
          if (known.first <= claim) known = {claim, of_rank.back().memory[place]};
        });
      }
      if (rank == comm.rank()) mine = of_rank;
    }
    Plan::Request request{true, Overlaps::last_wins};
    if (has_orders) {
      request.orders = [&](std::span<const HeldPiece> pieces) {
        return std::vector<WriteOrder>(pieces.size(), {mine.front().call, 0});
      };
    }
    const auto file = write(plan(mine, request), mine);
    std::uint64_t elements_of_all = comm.sum(file.size());
    EXPECT_EQ(elements_of_all, expected.size()) << seed;
    for (const auto& [element, value] : file) {
      ASSERT_TRUE(expected.contains(element)) << seed;
      EXPECT_EQ(value, expected[element].second) << seed << ", element " << element;
    }
  }
}

TEST_F(CollectivePlan, ReadsAnElementToAllPlacesThatAskForIt) {
  std::mt19937_64 random(7 + static_cast<std::uint64_t>(comm.rank()));
  std::vector<Drawn> mine;
  for (std::uint64_t r = 0; r < 4; ++r) mine.push_back(drawn(random, 0, r, r % 2 == 0));
  for (Drawn& one : mine) std::ranges::fill(one.memory, 0);
  const Plan made = plan(mine, {false, Overlaps::allowed});
  EXPECT_TRUE(made.some_rank_stages());
  std::vector<std::byte> staging;
  const auto memory = memory_of(mine);
  const auto buffers = made.buffers(memory, staging);
  context.rearranger().read({domain, made.flush(), buffers, fresh},
                            [&](std::uint64_t offset, std::byte* data, std::uint64_t bytes) {
                              for (std::uint64_t i = 0; i < bytes; i += 8) {
                                const Value value = 1000 + (offset + i - begin) / 8;
                                std::memcpy(data + i, &value, 8);
                              }
                            });
  made.distribute(memory, staging);
  for (const Drawn& one : mine) {
    one.for_each([&](std::uint64_t element, std::uint64_t place) {
      EXPECT_EQ(one.memory[place], 1000 + element);
    });
  }
}

TEST_F(CollectivePlan, RefusesElementsOfSeveralRanksOnAllOfThem) {
  std::vector<Drawn> mine(1);
  const bool has_any = comm.rank() == 0 || comm.rank() == comm.size() - 1;
  if (has_any) mine.front().pieces = {{3, 0, 2}};
  if (comm.size() == 1) {
    EXPECT_NO_THROW(plan(mine, {true, Overlaps::refused}));
  } else {
    EXPECT_THROW(plan(mine, {true, Overlaps::refused}), SharedElements);
    EXPECT_NO_THROW(plan(mine, {true, Overlaps::allowed}));
  }
}

TEST_F(CollectivePlan, ServesWhereverArraysLieAlikeAndTheCacheKeepsTheLatest) {
  PlanCache<int> cache(2);
  const auto fits = [&](const FileDomain& other) {
    return cache.fitting([&](const auto& entry) { return entry.plan.lies_alike(other); });
  };
  const auto of = [](std::uint64_t offset, std::uint64_t count) {
    return FileDomain(std::vector<ArrayPlace>{{offset, 8, count}}, 0);
  };
  std::vector<Drawn> nothing;
  cache.add(1, plan(nothing, {true, Overlaps::refused}));
  EXPECT_EQ(fits(of(begin + 1000, elements)), 1u);
  EXPECT_EQ(fits(of(begin, elements + 1)), 0u) << "another shape";
  cache.add(2, plan(nothing, {true, Overlaps::refused}));
  EXPECT_EQ(fits(domain), 3u);
  EXPECT_EQ(cache.use(1).key, 1);
  cache.add(3, plan(nothing, {true, Overlaps::refused}));
  EXPECT_EQ(cache.size(), 2u);
  EXPECT_EQ(cache.use(1).key, 1) << "the one that was used before the latest";
  EXPECT_EQ(PlanCache<int>::chosen(6), 1u);
  EXPECT_EQ(PlanCache<int>::chosen(0), std::nullopt);
}

}  // namespace
}  // namespace slabmark::collective
