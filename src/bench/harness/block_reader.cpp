#include "bench/harness/block_reader.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "collective/exchange/flush_plan.hpp"
#include "collective/exchange/run_exchange.hpp"

namespace slabmark {

namespace {

/// The blocks of an array's longest dimension, one for each rank.
class Blocks {
 public:
  Blocks(const Extent& extent, std::uint64_t ranks) : ranks_(ranks) {
    const auto longest = std::max_element(extent.begin(), extent.end());
    if (longest == extent.end()) return;  // a scalar is one block of one element
    length_ = *longest;
    for (auto faster = longest + 1; faster != extent.end(); ++faster) inner_ *= *faster;
  }

  /// Calls `visit(rank, piece)` with the parts of `run` in each block.
  template <class Visit>
  void cut(Run run, const Visit& visit) const {
    while (run.length > 0) {
      const std::uint64_t index = run.offset / inner_ % length_;
      const std::uint64_t rank = equal_range_of(index, length_, ranks_);
      const std::uint64_t beyond = equal_range(length_, rank, ranks_).end() - index;
      const std::uint64_t length = std::min(run.length, beyond * inner_ - run.offset % inner_);
      visit(rank, Run{run.offset, length});
      run = {run.offset + length, run.length - length};
    }
  }

 private:
  std::uint64_t ranks_;
  std::uint64_t length_ = 1;
  std::uint64_t inner_ = 1;  ///< elements of one position in the longest dimension
};

/// One hyperslab if the rows are those of a box, otherwise one for each row.
SelectionPtr select_rows(const Extent& extent, RunList rows) {
  if (rows.empty()) return select_none(extent);
  const bool is_contiguous = rows.back().end() - rows.front().offset == rows.size() * extent.back();
  if (is_contiguous && extent.size() == 2 && rows.front().length == extent.back()) {
    return select_hyperslabs(
        extent, {make_box({rows.front().offset / extent.back(), 0}, {rows.size(), extent.back()})});
  }
  return select_row_runs(extent, std::move(rows));
}

/// Collective. This rank's block of what the ranks have selected.
SelectionPtr block_of(const Comm& comm, const Selection& written) {
  const Extent& extent = written.extent();
  const auto ranks = static_cast<std::uint64_t>(comm.size());
  const Blocks blocks(extent, ranks);
  std::vector<RunList> outgoing(ranks);
  written.for_each_run([&](Run run) {
    blocks.cut(run, [&](std::uint64_t rank, Run piece) { append(outgoing[rank], piece); });
  });
  RunList mine;
  for (const RunList& runs : exchange_runs(comm, outgoing)) {
    mine.insert(mine.end(), runs.begin(), runs.end());
  }
  sort_runs(mine);
  coalesce(mine);
  if (extent.empty()) return mine.empty() ? select_none(extent) : select_all(extent);
  return select_rows(extent, split_at_rows(mine, extent.back()));
}

}  // namespace

Pattern make_block_reader(const Comm& comm, const Pattern& written) {
  std::vector<SelectionPtr> selections;
  std::vector<std::size_t> first_alike;
  std::vector<std::size_t> begin_of_round;
  std::map<SelectionPtr, std::size_t> first_with;
  for (std::uint64_t round = 0; round < written.rounds; ++round) {
    begin_of_round.push_back(selections.size());
    for (Transfer& transfer : written.transfers(round)) {
      first_alike.push_back(first_with.try_emplace(transfer.file, selections.size()).first->second);
      selections.push_back(std::move(transfer.file));
    }
  }
  const std::vector<std::size_t> group_of = agreed_maps(comm, first_alike);
  std::vector<SelectionPtr> blocks;
  for (std::size_t i = 0; i < selections.size(); ++i) {
    if (group_of[i] == blocks.size()) blocks.push_back(block_of(comm, *selections[i]));
    selections[i] = blocks[group_of[i]];
  }

  Pattern reader = written;
  reader.settings["read_by"] = "blocks of the longest dimension";
  reader.ranks_overlap = false;
  reader.transfers = [transfers = written.transfers, selections = std::move(selections),
                      begin_of_round = std::move(begin_of_round)](std::uint64_t round) {
    std::vector<Transfer> of_round = transfers(round);
    std::size_t at = begin_of_round[round];
    for (Transfer& transfer : of_round) {
      transfer.file = selections[at++];
      transfer.buffer = nullptr;
    }
    return of_round;
  };
  return reader;
}

Pattern without_elements(Pattern pattern) {
  // Datasets that share a selection share its empty one: methods plan once for each object.
  const auto empty = std::make_shared<std::map<SelectionPtr, SelectionPtr>>();
  pattern.transfers = [transfers = std::move(pattern.transfers), empty](std::uint64_t round) {
    std::vector<Transfer> of_round = transfers(round);
    for (Transfer& transfer : of_round) {
      SelectionPtr& none = (*empty)[transfer.file];
      if (!none) none = select_none(transfer.file->extent());
      transfer.file = none;
      transfer.buffer = nullptr;
    }
    return of_round;
  };
  return pattern;
}

}  // namespace slabmark
