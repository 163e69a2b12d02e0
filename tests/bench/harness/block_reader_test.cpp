#include "bench/harness/block_reader.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace slabmark {
namespace {

const Comm& world() {
  static const Comm comm(MPI_COMM_WORLD);
  return comm;
}

// Elements go to ranks by chance, the same on all; about a tenth goes to nobody.
RunList mine_of(std::uint64_t elements, std::uint64_t row, unsigned seed) {
  std::mt19937 random(seed);
  RunList runs;
  for (std::uint64_t element = 0; element < elements; ++element) {
    const auto owner = static_cast<int>(random() % 10 == 0 ? 1u << 20 : random() % world().size());
    if (owner != world().rank()) continue;
    if (element % row == 0) {
      runs.push_back({element, 1});
    } else {
      append(runs, {element, 1});
    }
  }
  return split_at_rows(runs, row);
}

Pattern scattered(const Extent& extent, const SelectionPtr& selection) {
  Pattern pattern;
  std::vector<Dimension> dimensions;
  for (const std::uint64_t length : extent) dimensions.push_back({"d", length});
  for (const char* name : {"u", "v"}) {
    pattern.datasets.push_back(
        {.name = name, .dimensions = dimensions, .has_time = true, .chunk = {}});
  }
  pattern.rounds = 3;
  pattern.transfers = [selection](std::uint64_t round) {
    return std::vector<Transfer>{{0, round, selection, nullptr}, {1, round, selection, nullptr}};
  };
  return pattern;
}

// How many ranks have each element.
std::vector<std::uint64_t> counts(const Selection& selection) {
  std::vector<std::uint64_t> found(element_count(selection.extent()));
  selection.for_each_run([&](Run run) {
    for (std::uint64_t i = run.offset; i < run.end(); ++i) ++found[i];
  });
  for (std::uint64_t& count : found) count = world().sum(count);
  return found;
}

class BlockReader : public testing::TestWithParam<Extent> {};

TEST_P(BlockReader, ReadsEachWrittenElementOnceWithinItsBlock) {
  const Extent& extent = GetParam();
  const auto selection =
      select_row_runs(extent, mine_of(element_count(extent), extent.back(), extent.size()));
  const Pattern reader = make_block_reader(world(), scattered(extent, selection));
  const auto transfers = reader.transfers(2);
  ASSERT_EQ(transfers.size(), 2u);
  EXPECT_EQ(transfers[1].time, 2u);
  EXPECT_EQ(transfers[0].file, transfers[1].file);
  EXPECT_EQ(transfers[0].file, reader.transfers(0)[0].file);
  EXPECT_TRUE(transfers[0].file->ascending());
  EXPECT_EQ(counts(*transfers[0].file), counts(*selection));

  const std::size_t longest = std::max_element(extent.begin(), extent.end()) - extent.begin();
  const slabmark::Run block = equal_range(extent[longest], world().rank(), world().size());
  transfers[0].file->for_each_run([&](slabmark::Run run) {
    for (std::uint64_t i = run.offset; i < run.end(); ++i) {
      const std::uint64_t index = indices_of(i, extent)[longest];
      EXPECT_TRUE(block.offset <= index && index < block.end()) << i;
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Shapes, BlockReader,
                         testing::Values(Extent{50}, Extent{7, 30}, Extent{30, 7}, Extent{4, 9, 3},
                                         Extent{1}, Extent{2, 2}));

TEST(BlockReaderOfWholeRows, HasOneHyperslab) {
  const Extent extent{40, 6};
  const slabmark::Run rows = equal_range(40, world().size() - 1 - world().rank(), world().size());
  RunList runs;
  for (std::uint64_t row = rows.offset; row < rows.end(); ++row) runs.push_back({row * 6, 6});
  const Pattern reader =
      make_block_reader(world(), scattered(extent, select_row_runs(extent, runs)));
  EXPECT_EQ(reader.transfers(0)[0].file->hyperslab_count(), 1u);
}

TEST(WithoutElements, KeepsDatasetsAndWhatSharesASelection) {
  const Pattern empty = without_elements(scattered({8, 2}, select_all({8, 2})));
  const auto transfers = empty.transfers(1);
  ASSERT_EQ(transfers.size(), 2u);
  EXPECT_EQ(transfers[0].file->element_count(), 0u);
  EXPECT_EQ(transfers[0].file->extent(), (Extent{8, 2}));
  EXPECT_EQ(transfers[0].file, transfers[1].file);
}

}  // namespace
}  // namespace slabmark
