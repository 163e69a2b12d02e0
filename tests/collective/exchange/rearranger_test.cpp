#include "collective/exchange/rearranger.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <set>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gmock/gmock.h>

#include "collective/exchange/shared_staging.hpp"
#include "core/base/error.hpp"

namespace slabmark {
namespace {

/// Two arrays of 8-byte elements, dealt out like cards: rank r has every size-th element from r on.
class RearrangerTest : public testing::TestWithParam<std::uint64_t> {
 protected:
  static constexpr std::uint64_t elements = 1000;

  RearrangerTest() {
    const auto rank = static_cast<std::uint64_t>(comm.rank());
    const auto size = static_cast<std::uint64_t>(comm.size());
    for (std::uint64_t e = rank; e < elements; e += size) {
      pieces.push_back({e, pieces.size(), 1});
      first.push_back(e);
      second.push_back(elements + e);
    }
  }

  FlushPlan plan_for(const Rearranger& rearranger) const {
    return FlushPlan(comm, domain, {{pieces, elements, "v"}}, {{0, 0}, {1, 0}},
                     {rearranger.aggregators(), 64}, true);
  }

  std::vector<std::byte*> buffers() {
    return {reinterpret_cast<std::byte*>(first.data()),
            reinterpret_cast<std::byte*>(second.data())};
  }

  /// 0 as MPI says, 1 messages only.
  RearrangerSettings settings() const {
    RearrangerSettings chosen;
    chosen.aggregators = 2;
    chosen.window = 512;
    chosen.node_ranks = GetParam();
    return chosen;
  }

  /// Of each node, or what is taken for one, the ranks.
  std::vector<std::vector<int>> nodes() const {
    return SharedStaging(comm, GetParam()).ranks_by_node();
  }

  Comm comm{MPI_COMM_WORLD};
  const FileDomain domain{
      std::vector<ArrayPlace>{{64, 8, elements}, {64 + 8 * elements, 8, elements}}, 0};
  const std::vector<bool> fresh{true, true};
  std::vector<Piece> pieces;
  std::vector<std::uint64_t> first, second;
};

TEST_P(RearrangerTest, BringsElementsIntoTheOrderOfTheFileAndBack) {
  Rearranger rearranger(comm, settings());
  const FlushPlan plan = plan_for(rearranger);
  const auto memory = buffers();
  const Rearranger::Flush flush{domain, plan, memory, fresh, false};
  std::map<std::uint64_t, std::uint64_t> mine;  // what this aggregator keeps, by element
  rearranger.write(flush, [&](std::uint64_t offset, std::byte* data, std::uint64_t bytes) {
    EXPECT_LE(bytes, rearranger.window_bytes() + 8);
    for (std::uint64_t i = 0; i < bytes; i += 8) {
      std::memcpy(&mine[(offset + i - 64) / 8], data + i, 8);
    }
  });
  EXPECT_EQ(comm.sum(std::uint64_t{mine.size()}), 2 * elements);
  for (const auto& [element, value] : mine) ASSERT_EQ(value, element);

  const auto written_first = first;
  const auto written_second = second;
  std::fill(first.begin(), first.end(), 0);
  std::fill(second.begin(), second.end(), 0);
  rearranger.read(flush, [&](std::uint64_t offset, std::byte* data, std::uint64_t bytes) {
    for (std::uint64_t i = 0; i < bytes; i += 8) {
      std::memcpy(data + i, &mine.at((offset + i - 64) / 8), 8);
    }
  });
  EXPECT_EQ(first, written_first);
  EXPECT_EQ(second, written_second);
}

TEST_P(RearrangerTest, AnAggregatorThatCannotWriteLeavesNoOtherWaitingAndThrowsAtTheEnd) {
  Rearranger rearranger(comm, settings());
  const FlushPlan plan = plan_for(rearranger);
  const auto memory = buffers();
  const Rearranger::Flush flush{domain, plan, memory, fresh, false};
  bool thrown = false;
  try {
    rearranger.write(flush, [&](std::uint64_t, std::byte*, std::uint64_t) {
      if (comm.is_root()) throw IoError("No space is left.");
    });
  } catch (const IoError&) {
    thrown = true;
  }
  EXPECT_EQ(thrown, comm.is_root());
  rearranger.write(flush, [](std::uint64_t, std::byte*, std::uint64_t) {});
}

TEST_P(RearrangerTest, SendsMessagesOnlyWhereMemoryIsNotShared) {
  Rearranger rearranger(comm, settings());
  const FlushPlan plan = plan_for(rearranger);
  const auto memory = buffers();
  const auto tally = rearranger.write({domain, plan, memory, fresh, false},
                                      [](std::uint64_t, std::byte*, std::uint64_t) {});
  EXPECT_EQ(comm.sum(tally.messages) > 0, rearranger.nodes() > 1);
}

// A rank's message is then longer than the window that it is about, and than all that has room.
TEST_P(RearrangerTest, WhatEveryRankReadsManyTimesArrives) {
  constexpr std::size_t times = 20;
  Rearranger rearranger(comm, settings());
  const FileDomain one({{{64, 8, elements}}}, 0);
  const std::vector<Piece> whole{{0, 0, elements}};
  const FlushPlan plan(comm, one, {{whole, elements, "v"}}, std::vector<PlanItem>(times),
                       {rearranger.aggregators(), 64}, false);
  std::vector<std::vector<std::uint64_t>> found(times, std::vector<std::uint64_t>(elements));
  std::vector<std::byte*> memory;
  for (auto& one_of_them : found)
    memory.push_back(reinterpret_cast<std::byte*>(one_of_them.data()));
  rearranger.read({one, plan, memory, fresh, false},
                  [](std::uint64_t offset, std::byte* data, std::uint64_t bytes) {
                    for (std::uint64_t i = 0; i < bytes; i += 8) {
                      const std::uint64_t value = (offset + i - 64) / 8;
                      std::memcpy(data + i, &value, 8);
                    }
                  });
  for (const auto& one_of_them : found) {
    for (std::uint64_t e = 0; e < elements; ++e) ASSERT_EQ(one_of_them[e], e);
  }
}

// A legal map: with a window for each of its 8 TiB this would take days.
TEST_P(RearrangerTest, OfAHugeArrayOnlyWhatRanksHaveTakesWindows) {
  constexpr std::uint64_t huge = std::uint64_t{1} << 40;
  const auto rank = static_cast<std::uint64_t>(comm.rank());
  const auto size = static_cast<std::uint64_t>(comm.size());
  RearrangerSettings large = settings();
  large.window = 1u << 20;
  Rearranger rearranger(comm, large);
  const FileDomain far({{{64, 8, huge}}}, 0);
  // Some at the ends of the array, some next to each other, some on their own.
  const std::vector<Piece> mine = {
      {rank, 0, 1}, {(huge >> 1) + (rank << 30), 1, 2}, {huge - size + rank, 3, 1}};
  std::vector<std::uint64_t> values = {mine[0].file, mine[1].file, mine[1].file + 1, mine[2].file};
  const auto wanted = values;
  std::byte* const memory = reinterpret_cast<std::byte*>(values.data());
  const FlushPlan plan(comm, far, {{mine, huge, "v"}}, {{0, 0}}, {rearranger.aggregators(), 64},
                       true);
  const std::vector<bool> only_fresh{true};
  const Rearranger::Flush flush{far, plan, {&memory, 1}, only_fresh, false};
  std::map<std::uint64_t, std::uint64_t> file;
  rearranger.write(flush, [&](std::uint64_t offset, std::byte* data, std::uint64_t bytes) {
    for (std::uint64_t i = 0; i < bytes; i += 8)
      std::memcpy(&file[(offset + i - 64) / 8], data + i, 8);
  });
  EXPECT_EQ(comm.sum(std::uint64_t{file.size()}), 4 * size);
  for (const auto& [element, value] : file) ASSERT_EQ(value, element);

  std::fill(values.begin(), values.end(), 0);
  rearranger.read(flush, [&](std::uint64_t offset, std::byte* data, std::uint64_t bytes) {
    for (std::uint64_t i = 0; i < bytes; i += 8)
      std::memcpy(data + i, &file.at((offset + i - 64) / 8), 8);
  });
  EXPECT_EQ(values, wanted);
}

// Others may be several windows ahead, so what they have moved must not stand for what is missing.
TEST_P(RearrangerTest, NoWindowIsWrittenBeforeTheSlowestRankHasMovedItsElements) {
  Rearranger rearranger(comm, settings());
  const FlushPlan plan = plan_for(rearranger);
  const auto memory = buffers();
  for (int slow = 0; slow < comm.size(); ++slow) {
    std::uint64_t wrong = 0;
    comm.barrier();
    if (comm.rank() == slow) std::this_thread::sleep_for(std::chrono::milliseconds(30));
    rearranger.write({domain, plan, memory, fresh, false},
                     [&](std::uint64_t offset, std::byte* data, std::uint64_t bytes) {
                       for (std::uint64_t i = 0; i < bytes; i += 8) {
                         std::uint64_t value = 0;
                         std::memcpy(&value, data + i, 8);
                         if (value != (offset + i - 64) / 8) ++wrong;
                         std::memset(data + i, 0xFF, 8);
                       }
                     });
    EXPECT_EQ(wrong, 0u);
  }
}

/// Says whether another process of the same number is between enter() and leave().
class Entrance {
 public:
  Entrance(const Comm& comm, std::uint64_t number) {
    const auto root = comm.broadcast(static_cast<std::uint64_t>(::getpid()));
    path_ = (std::filesystem::temp_directory_path() /
             ("slabmark-entrance-" + std::to_string(root) + "-" + std::to_string(number)))
                .string();
  }
  bool enter() const {
    const int descriptor = ::open(path_.c_str(), O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (descriptor >= 0) ::close(descriptor);
    return descriptor >= 0;
  }
  void leave() const { ::unlink(path_.c_str()); }

 private:
  std::string path_;
};

TEST_P(RearrangerTest, OneAggregatorOfANodeWritesAtATimeWhereThatIsAskedFor) {
  RearrangerSettings chosen = settings();
  chosen.aggregators = 4;
  chosen.writers = 1;
  Rearranger rearranger(comm, chosen);
  const FlushPlan plan = plan_for(rearranger);
  const auto memory = buffers();
  std::uint64_t lowest = 0;
  for (const auto& ranks : nodes()) {
    if (std::ranges::count(ranks, comm.rank()) > 0) lowest = static_cast<std::uint64_t>(ranks[0]);
  }
  const Entrance node(comm, lowest);
  std::uint64_t together = 0;
  rearranger.write({domain, plan, memory, fresh, false},
                   [&](std::uint64_t, std::byte*, std::uint64_t) {
                     if (!node.enter()) {
                       ++together;
                       return;
                     }
                     std::this_thread::sleep_for(std::chrono::milliseconds(1));
                     node.leave();
                   });
  EXPECT_EQ(together, 0u);
}

TEST_P(RearrangerTest, EachStripeIsWrittenByOneAggregator) {
  RearrangerSettings chosen = settings();
  chosen.aggregators = 3;
  Rearranger rearranger(comm, chosen);
  constexpr std::uint64_t stripe = 1024;
  const FlushPlan plan(comm, domain, {{pieces, elements, "v"}}, {{0, 0}, {1, 0}},
                       {rearranger.aggregators(), stripe}, true);
  const auto memory = buffers();
  std::set<std::uint64_t> stripes;
  rearranger.write({domain, plan, memory, fresh, false},
                   [&](std::uint64_t offset, std::byte*, std::uint64_t bytes) {
                     for (std::uint64_t at = offset / stripe; at * stripe < offset + bytes; ++at) {
                       stripes.insert(at);
                     }
                   });
  const std::uint64_t last = (64 + 2 * 8 * elements - 1) / stripe;
  EXPECT_EQ(comm.sum(std::uint64_t{stripes.size()}), last + 1) << "of all, each counted once";
}

TEST_P(RearrangerTest, AggregatorsAreAMultipleOfTheStripesWhereThereAreMore) {
  RearrangerSettings chosen;
  chosen.node_ranks = GetParam();
  const std::size_t without = Rearranger(comm, chosen).aggregators().size();
  for (std::uint64_t stripes = 1; stripes <= 5; ++stripes) {
    chosen.stripes = stripes;
    const std::size_t with = Rearranger(comm, chosen).aggregators().size();
    EXPECT_EQ(with, without < stripes ? without : without - without % stripes);
  }
}

TEST_P(RearrangerTest, NoNodeHasTwoAggregatorsMoreThanAnotherThatHasRanksLeft) {
  const auto all = nodes();
  for (int count = 1; count <= comm.size(); ++count) {
    RearrangerSettings chosen = settings();
    chosen.aggregators = static_cast<std::uint64_t>(count);
    const Rearranger rearranger(comm, chosen);
    std::vector<long> of_node;
    for (const auto& ranks : all) {
      of_node.push_back(std::ranges::count_if(
          rearranger.aggregators(), [&](int rank) { return std::ranges::count(ranks, rank) > 0; }));
    }
    for (std::size_t a = 0; a < all.size(); ++a) {
      for (std::size_t b = 0; b < all.size(); ++b) {
        const bool none_left = of_node[b] == static_cast<long>(all[b].size());
        EXPECT_TRUE(of_node[a] <= of_node[b] + 1 || none_left) << count;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(NodeRanks, RearrangerTest, testing::Values(0, 1, 2),
                         [](const auto& each) { return "of_" + std::to_string(each.param); });

TEST(StandardWindow, IsSmallOnOneNodeAndGrowsWithTheRanksBetweenNodes) {
  EXPECT_EQ(default_window(1, 64), 2u << 20);
  EXPECT_EQ(default_window(2, 4), 16u << 20);
  EXPECT_EQ(default_window(32, 1024), 128u << 20);
  EXPECT_EQ(default_window(675, 21600), 256u << 20);
}

}  // namespace
}  // namespace slabmark
