#include "bench/pattern/conformance.hpp"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "bench/pattern/content.hpp"
#include "bench/pattern/transfer_pieces.hpp"

namespace slabmark {
namespace {

/// The patterns of all ranks: [rank][pattern].
std::vector<std::vector<Pattern>> patterns_of_all(int size) {
  std::vector<std::vector<Pattern>> all;
  for (int rank = 0; rank < size; ++rank) all.push_back(conformance_patterns(rank, size));
  return all;
}

class ConformancePatterns : public testing::TestWithParam<int> {
 protected:
  int size() const { return GetParam(); }
};

INSTANTIATE_TEST_SUITE_P(OnRanks, ConformancePatterns, testing::Values(1, 2, 3, 4, 6, 7, 64),
                         [](const auto& ranks) { return std::to_string(ranks.param); });

std::vector<Transfer> transfers_of(const Pattern& pattern) {
  std::vector<Transfer> all;
  for (std::uint64_t round = 0; round < pattern.rounds; ++round) {
    for (Transfer& transfer : pattern.transfers(round)) all.push_back(std::move(transfer));
  }
  return all;
}

/// Sorted runs that all ranks together move by pattern `i`, for each (dataset, time).
std::map<std::pair<std::size_t, std::uint64_t>, RunList> moved_by_all(
    const std::vector<std::vector<Pattern>>& all, std::size_t i) {
  std::map<std::pair<std::size_t, std::uint64_t>, RunList> moved;
  for (const auto& mine : all) {
    for (const Transfer& transfer : transfers_of(mine[i])) {
      RunList& runs = moved[{transfer.dataset, transfer.time}];
      transfer.file->for_each_run([&](Run run) { runs.push_back(run); });
    }
  }
  for (auto& [where, runs] : moved) sort_runs(runs);
  return moved;
}

std::string shape_of(const Dataset& dataset) {
  std::string text = dataset.name + " " + std::string(name_of(dataset.type)) +
                     (dataset.has_time ? " time" : "") +
                     (dataset.chunk ? to_string(*dataset.chunk) : "");
  for (const Dimension& dimension : dataset.dimensions) {
    text += " " + dimension.name + "=" + std::to_string(dimension.length);
  }
  return text;
}

/// What must be the same on all ranks, as one text.
std::string structure_of(const Pattern& pattern) {
  std::string text = pattern.name;
  for (const Dataset& dataset : pattern.datasets) {
    text += fmt::format("\n{}", shape_of(dataset));
  }
  for (std::uint64_t round = 0; round < pattern.rounds; ++round) {
    text += "\nround";
    for (const Transfer& transfer : pattern.transfers(round)) {
      text += fmt::format(" {}@{}", transfer.dataset, transfer.time);
    }
  }
  return text;
}

TEST_P(ConformancePatterns, AreTheSameOnAllRanksButForTheSelections) {
  const auto all = patterns_of_all(size());
  for (const auto& mine : all) {
    ASSERT_EQ(mine.size(), all[0].size());
    for (std::size_t i = 0; i < mine.size(); ++i) {
      EXPECT_EQ(structure_of(mine[i]), structure_of(all[0][i]));
    }
  }
}

TEST_P(ConformancePatterns, HaveNamesOfTheirOwn) {
  std::set<std::string> names;
  for (const Pattern& pattern : conformance_patterns(0, size())) {
    EXPECT_TRUE(names.insert(pattern.name).second) << pattern.name;
  }
}

TEST_P(ConformancePatterns, SelectWithinTheirDatasets) {
  for (const auto& mine : patterns_of_all(size())) {
    for (const Pattern& pattern : mine) {
      for (const Transfer& transfer : transfers_of(pattern)) {
        const Dataset& dataset = pattern.datasets[transfer.dataset];
        EXPECT_EQ(transfer.file->extent(), dataset.extent()) << pattern.name;
        EXPECT_TRUE(dataset.has_time || transfer.time == 0) << pattern.name;
        if (!transfer.buffer) continue;
        EXPECT_EQ(transfer.buffer->element_count(), transfer.file->element_count()) << pattern.name;
      }
    }
  }
}

TEST_P(ConformancePatterns, MoveNoElementTwice) {
  const auto all = patterns_of_all(size());
  for (std::size_t i = 0; i < all[0].size(); ++i) {
    for (const auto& [where, runs] : moved_by_all(all, i)) {
      EXPECT_EQ(find_overlap(runs), std::nullopt) << all[0][i].name;
    }
  }
}

TEST_P(ConformancePatterns, HaveNoBufferElementTwice) {
  for (const auto& mine : patterns_of_all(size())) {
    for (const Pattern& pattern : mine) {
      for (const Transfer& transfer : transfers_of(pattern)) {
        RunList runs;
        for_each_piece(transfer, [&](const Piece& p) { runs.push_back({p.buffer, p.length}); });
        sort_runs(runs);
        EXPECT_EQ(find_overlap(runs), std::nullopt) << pattern.name;
      }
    }
  }
}

TEST_P(ConformancePatterns, AreSmall) {
  for (const Pattern& pattern : conformance_patterns(0, size())) {
    std::uint64_t bytes = 0;
    for (const Dataset& dataset : pattern.datasets) {
      const std::uint64_t records = dataset.has_time ? 2 * pattern.rounds : 1;
      bytes += records * element_count(dataset.extent()) * size_of(dataset.type);
    }
    EXPECT_LT(bytes, 1u << 20) << pattern.name;
  }
}

/// What a suite of patterns shows.
struct Shown {
  std::set<std::size_t> ranks;
  std::set<ElementType> types;
  bool time = false, chunk = false, gaps_in_memory = false, unordered = false, strided = false;
  bool holes = false, idle_rank = false, silent_round = false, no_transfer = false, shared = false;
};

void note(Shown& shown, const Pattern& pattern) {
  for (const Dataset& dataset : pattern.datasets) {
    shown.ranks.insert(dataset.dimensions.size());
    shown.types.insert(dataset.type);
    shown.time |= dataset.has_time;
    shown.chunk |= dataset.chunk.has_value();
  }
  for (std::uint64_t round = 0; round < pattern.rounds; ++round) {
    const auto transfers = pattern.transfers(round);
    shown.no_transfer |= transfers.empty();
    std::set<SelectionPtr> selections;
    std::uint64_t elements = 0;
    for (const Transfer& transfer : transfers) {
      shown.shared |= !selections.insert(transfer.file).second;
      shown.unordered |= !transfer.file->ascending();
      elements += transfer.file->element_count();
      if (transfer.buffer) {
        shown.gaps_in_memory |=
            element_count(transfer.buffer->extent()) > transfer.buffer->element_count();
      }
      Hyperslab slab;
      for (std::uint64_t i = 0; i < transfer.file->hyperslab_count(); ++i) {
        transfer.file->hyperslab(i, slab);
        for (std::size_t d = 0; d < slab.count.size(); ++d) {
          shown.strided |= slab.count[d] > 1 && slab.block[d] > 1 && slab.stride[d] > slab.block[d];
        }
      }
    }
    shown.silent_round |= !transfers.empty() && elements == 0;
  }
  shown.idle_rank |= moved_bytes(pattern) == 0;
}

TEST(ConformanceSuite, ShowsWhatItPromises) {
  const auto all = patterns_of_all(3);
  Shown shown;
  for (const auto& mine : all) {
    for (const Pattern& pattern : mine) note(shown, pattern);
  }
  for (std::size_t i = 0; i < all[0].size(); ++i) {
    for (const auto& [where, runs] : moved_by_all(all, i)) {
      const Extent extent = all[0][i].datasets[where.first].extent();
      const std::uint64_t moved = total_length(runs);
      shown.holes |= moved > 0 && moved < element_count(extent);
    }
  }
  EXPECT_EQ(shown.ranks, (std::set<std::size_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(shown.types.size(), 6u);
  EXPECT_TRUE(shown.time);
  EXPECT_TRUE(shown.chunk);
  EXPECT_TRUE(shown.gaps_in_memory);
  EXPECT_TRUE(shown.unordered);
  EXPECT_TRUE(shown.strided);
  EXPECT_TRUE(shown.holes);
  EXPECT_TRUE(shown.idle_rank);
  EXPECT_TRUE(shown.silent_round);
  EXPECT_TRUE(shown.no_transfer);
  EXPECT_TRUE(shown.shared);
}

TEST_P(ConformancePatterns, FillAndCheckTheirBuffers) {
  for (const Pattern& pattern : conformance_patterns(size() - 1, size())) {
    for (const Transfer& transfer : transfers_of(pattern)) {
      std::vector<std::byte> buffer(buffer_bytes(transfer, pattern.datasets[transfer.dataset]));
      fill_buffer(pattern, transfer, buffer.data());
      EXPECT_EQ(check_buffer(pattern, transfer, buffer.data()), std::nullopt) << pattern.name;
    }
  }
}

}  // namespace
}  // namespace slabmark
