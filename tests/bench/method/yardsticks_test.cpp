// The methods that others are compared with, whose files have no use.

#include <filesystem>

#include <gtest/gtest.h>

#include "bench/method/pass.hpp"
#include "bench/method/registry.hpp"
#include "bench/pattern/selection.hpp"
#include "scratch.hpp"

namespace slabmark {
namespace {

class Yardsticks : public testing::Test {
 protected:
  static constexpr std::uint64_t elements = 1000;

  /// Two rounds, in each of which a rank has every fourth block of 5 elements, but the last rank
  /// nothing: most of the array is a hole.
  Pattern sparse() const {
    Pattern pattern;
    pattern.name = "sparse";
    pattern.rounds = 2;
    pattern.datasets = {{"v", ElementType::float64, {{"x", elements}}, true, std::nullopt}};
    RunList runs;
    if (comm.rank() + 1 < comm.size() || comm.size() == 1) {
      const auto rank = static_cast<std::uint64_t>(comm.rank());
      for (std::uint64_t at = 5 * rank; at + 5 <= elements; at += 20) runs.push_back({at, 5});
    }
    const auto file = select_row_runs({elements}, runs);
    pattern.transfers = [file](std::uint64_t round) {
      return std::vector<Transfer>{{0, round, file, nullptr}};
    };
    return pattern;
  }

  Comm comm{MPI_COMM_WORLD};
  Scratch scratch{comm};
};

TEST_F(Yardsticks, TheFloorBringsEachRankItsOwnBytesBack) {
  const MethodInfo& floor = find_method("floor");
  const Pattern pattern = sparse();
  for (const auto flush : {Flush::each_round, Flush::at_the_end}) {
    const auto path = scratch.file(flush == Flush::each_round ? "each" : "end");
    EXPECT_EQ(write_file(floor, comm, pattern, {}, path, flush).fault, "");
    EXPECT_EQ(read_file(floor, comm, pattern, {}, path, flush).fault, "");
  }
}

TEST_F(Yardsticks, WholeWritesAsManyBytesAsTheArraysHave) {
  const auto path = scratch.file("whole");
  EXPECT_EQ(write_file(find_method("whole"), comm, sparse(), {}, path).fault, "");
  comm.barrier();
  EXPECT_EQ(std::filesystem::file_size(path), 2 * elements * sizeof(double));
}

}  // namespace
}  // namespace slabmark
