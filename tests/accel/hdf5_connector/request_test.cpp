#include "accel/hdf5_connector/request.hpp"

#include <map>
#include <random>

#include <gtest/gtest.h>

#include "accel/hdf5_connector/element_size.hpp"

namespace slabmark::slablog {
namespace {

/// Lists of ascending runs, the newest first, in a dataset of `elements`.
std::vector<LogRuns> random_lists(std::mt19937_64& random, std::uint64_t elements) {
  std::vector<LogRuns> lists(random() % 5);
  std::uint32_t source = in_segment;
  for (auto& list : lists) {
    std::uint64_t at = random() % 20;
    while (at < elements) {
      const auto length = std::min(1 + random() % (random() % 9 == 0 ? 150 : 5), elements - at);
      list.push_back({at, length, 1000 * element_size * source + at * element_size, source});
      at += length + random() % 9;
    }
    ++source;
  }
  return lists;
}

TEST(Request, EachElementComesFromTheNewestListThatHasItAndWhatNoneHasIsMissing) {
  constexpr std::uint64_t elements = 500;
  std::mt19937_64 random(1);
  for (int round = 0; round < 1000; ++round) {
    const auto lists = random_lists(random, elements);
    // In any order, and they may overlap: each has a memory of its own.
    std::vector<ReadRun> reads(1 + random() % 6);
    std::vector<std::byte> memory(reads.size() * elements * element_size);
    for (std::size_t i = 0; i < reads.size(); ++i) {
      const auto offset = random() % elements;
      reads[i] = {offset, 1 + random() % (elements - offset),
                  memory.data() + i * elements * element_size};
    }
    std::map<const std::byte*, std::uint64_t> got;  // position by target
    const auto put = [&](const std::byte* target, std::uint64_t length, std::uint64_t position) {
      for (std::uint64_t i = 0; i < length; ++i) {
        const bool is_new =
            got.emplace(target + i * element_size, position + i * element_size).second;
        ASSERT_TRUE(is_new) << "round " << round;
      }
    };
    const std::uint64_t most = 1 + random() % 300;
    for_each_request(reads, element_size, most, [&](Request& request) {
      for (const auto& list : lists) {
        request.offer(ListCursor(list), [&](const LogRun& part, std::byte* target) {
          put(target, part.length, part.position);
        });
      }
      bool any = false;
      const bool complete = request.complete();
      request.for_each_missing([&](const ReadRun& read) {
        any = true;
        for (std::uint64_t i = 0; i < read.length; ++i) {
          ASSERT_TRUE(got.emplace(read.target + i * element_size, 0).second) << "round " << round;
        }
      });
      EXPECT_EQ(complete, !any);
    });
    std::map<const std::byte*, std::uint64_t> expected;
    for (const auto& read : reads) {
      for (std::uint64_t i = 0; i < read.length; ++i) {
        auto& position = expected[read.target + i * element_size];
        for (auto list = lists.rbegin(); list != lists.rend(); ++list) {
          for (const auto& run : *list) {
            const auto at = read.offset + i;
            if (run.offset <= at && at < run.end()) {
              position = run.position + (at - run.offset) * element_size;
            }
          }
        }
      }
    }
    ASSERT_EQ(got, expected) << "round " << round;
  }
}

}  // namespace
}  // namespace slabmark::slablog
