#include "collective/exchange/range_plan.hpp"

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace slabmark {
namespace {

// Three bytes, since elements of a file need not be numbers of the machine.
constexpr std::size_t element_bytes = 3;
const std::vector<std::byte> fill(element_bytes, std::byte{0xee});

/// What a rank puts into an element: its rank, then the element.
void put(std::byte* at, int rank, std::uint64_t element) {
  at[0] = static_cast<std::byte>(rank);
  at[1] = static_cast<std::byte>(element);
  at[2] = static_cast<std::byte>(element >> 8);
}

/// Sorted runs without overlap of any rank, known to all ranks.
RunList runs_of_rank(int rank, int trial, std::uint64_t total) {
  std::mt19937_64 random(static_cast<std::uint64_t>(1000 * trial + rank));
  RunList runs;
  for (std::uint64_t at = random() % 20; at < total;) {
    const auto length = std::min(1 + random() % 30, total - at);
    runs.push_back({at, length});
    at += length + random() % 20;
  }
  return runs;
}

/// All of the array, as it must become.
std::vector<std::byte> expected_array(int ranks, int trial, std::uint64_t total) {
  std::vector<std::byte> array(total * element_bytes, fill[0]);
  for (int rank = 0; rank < ranks; ++rank) {
    for (const auto run : runs_of_rank(rank, trial, total)) {
      for (auto i = run.offset; i < run.end(); ++i) put(&array[i * element_bytes], rank, i);
    }
  }
  return array;
}

struct Outcome {
  std::vector<std::byte> range;    ///< what this rank was given
  std::vector<Run> windows;        ///< in which order
  std::uint64_t most_at_once = 0;  ///< elements that it was asked for in one go
};

Outcome move(const RangePlan& plan, int rank, std::uint64_t window_bytes) {
  Outcome outcome;
  plan.move(
      fill, window_bytes,
      [&](std::span<const Run> runs, std::byte* packed) {
        outcome.most_at_once = std::max(outcome.most_at_once, total_length(runs));
        for (const auto run : runs) {
          for (auto i = run.offset; i < run.end(); ++i, packed += element_bytes) {
            put(packed, rank, i);
          }
        }
      },
      [&](Run window, const std::byte* elements) {
        outcome.windows.push_back(window);
        outcome.range.insert(outcome.range.end(), elements,
                             elements + window.length * element_bytes);
      });
  return outcome;
}

Run my_range(const Comm& comm, std::uint64_t total) {
  return equal_range(total, static_cast<std::uint64_t>(comm.rank()),
                     static_cast<std::uint64_t>(comm.size()));
}

TEST(RangePlan, GivesEachRankItsRangeInOrderWithTheHighestRanksElements) {
  const Comm comm(MPI_COMM_WORLD);
  for (int trial = 0; trial < 40; ++trial) {
    SCOPED_TRACE(trial);
    const auto total = static_cast<std::uint64_t>(trial * trial);
    const RangePlan plan(&comm, runs_of_rank(comm.rank(), trial, total), total);
    const auto outcome = move(plan, comm.rank(), 20 * element_bytes + 1);

    const auto mine = my_range(comm, total);
    const auto all = expected_array(comm.size(), trial, total);
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(mine.offset * element_bytes);
    const std::vector<std::byte> expected(
        begin, begin + static_cast<std::ptrdiff_t>(mine.length * element_bytes));
    EXPECT_EQ(outcome.range, expected);
    auto at = mine.offset;
    for (const auto window : outcome.windows) {
      EXPECT_EQ(window.offset, at);
      EXPECT_LE(window.length, 20u);
      at = window.end();
    }
  }
}

TEST(RangePlan, OneProcessNeedsNoCommunicator) {
  const RangePlan plan(nullptr, {{2, 3}}, 7);
  EXPECT_EQ(move(plan, 5, 4).range.size(), 7 * element_bytes);
  EXPECT_EQ(move(plan, 5, 4).range[2 * element_bytes], std::byte{5});
  EXPECT_EQ(move(plan, 5, 4).range[5 * element_bytes], fill[0]);
}

TEST(RangePlan, ARankThatHoldsTheFirstWindowOfAllRanksSendsOneWindowAtATime) {
  const Comm comm(MPI_COMM_WORLD);
  const auto ranks = static_cast<std::uint64_t>(comm.size());
  const std::uint64_t window = 8;
  const auto total = 4 * window * ranks;
  RunList held;
  for (std::uint64_t r = 0; r < ranks && comm.is_root(); ++r) {
    held.push_back({4 * window * r, window});
  }
  const RangePlan plan(&comm, held, total);
  const auto outcome = move(plan, 1, window * element_bytes);
  EXPECT_LE(outcome.most_at_once, window);
  std::vector<std::byte> expected(4 * window * element_bytes, fill[0]);
  const auto mine = my_range(comm, total);
  for (std::uint64_t i = 0; i < window; ++i) {
    put(&expected[i * element_bytes], 1, mine.offset + i);
  }
  EXPECT_EQ(outcome.range, expected);
}

TEST(RangePlan, ARankThatCannotReadEndsTheMoveForAllWithItsMessage) {
  const Comm comm(MPI_COMM_WORLD);
  const std::uint64_t total = 1000;
  const auto last = comm.size() - 1;
  const RangePlan plan(&comm, {my_range(comm, total)}, total);
  std::uint64_t written = 0;
  try {
    plan.move(
        fill, 10 * element_bytes,
        [&](std::span<const slabmark::Run>, std::byte*) {
          if (comm.rank() == last) throw IoError("The disk is gone.");
        },
        [&](slabmark::Run window, const std::byte*) { written += window.length; });
    ADD_FAILURE() << "no rank was told";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("The disk is gone."));
  }
  EXPECT_EQ(written, 0u);
}

}  // namespace
}  // namespace slabmark
