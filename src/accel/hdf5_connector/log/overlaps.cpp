#include "accel/hdf5_connector/log/overlaps.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "collective/exchange/flush_plan.hpp"
#include "collective/exchange/move_elements.hpp"
#include "collective/exchange/union_of_ranks.hpp"
#include "core/parallel/node_clock.hpp"

namespace slabmark::slablog {

namespace {

struct DatasetLine {
  std::uint64_t number = 0;
  std::uint64_t elements = 0;

  auto operator<=>(const DatasetLine&) const = default;
};

using DatasetLines = std::vector<DatasetLine>;
using Known = std::map<DatasetLine, LogDataset*>;

/// Collective: the datasets of all ranks, and which of them this one has.
std::pair<DatasetLines, Known> lines_of(const Comm& comm, std::span<LogDataset* const> mine) {
  DatasetLines lines;
  Known known;
  for (auto* dataset : mine) {
    lines.push_back({dataset->number(), element_count(dataset->extent())});
    known[lines.back()] = dataset;
  }
  return {union_of_ranks(comm, std::move(lines)), std::move(known)};
}

/// Calls `visit(begins, end)` with datasets one after another on a line of `end` elements: where
/// each begins. With as many lines as it takes to number the elements.
template <class Visit>
void for_each_line(std::span<const DatasetLine> datasets, const Visit& visit) {
  std::vector<std::uint64_t> begins;
  std::uint64_t end = 0;
  std::size_t first = 0;
  for (std::size_t i = 0; i < datasets.size(); ++i) {
    std::uint64_t next = 0;
    if (__builtin_add_overflow(end, datasets[i].elements, &next)) {
      visit(datasets.subspan(first, i - first), begins, end);
      begins.clear();
      first = i;
      end = 0;
      next = datasets[i].elements;
    }
    begins.push_back(end);
    end = next;
  }
  if (first < datasets.size()) visit(datasets.subspan(first), begins, end);
}

/// One dataset of a line, and what of it is kept.
void drop(LogDataset& dataset, Run on_line, std::span<const Run> lost) {
  RunList in_dataset;
  for (const auto& run : within(lost, on_line)) {
    const auto common = common_part(run, on_line);
    in_dataset.push_back({common.offset - on_line.offset, common.length});
  }
  if (in_dataset.empty()) return;
  dataset.keep_pending(parts_within(dataset.pending(), complement(in_dataset, on_line.length),
                                    dataset.element_bytes()));
}

}  // namespace

PendingBounds pending_bounds(LogDataset& dataset) {
  if (const auto& post = dataset.only_post(); post.runs) {
    return {post.runs->front().offset, post.runs->back().end(), post.call, post.call};
  }
  std::optional<PendingBounds> bounds;
  dataset.for_each_pending(1, [&](const LogRuns& runs) {
    if (!bounds) bounds = {runs.front().offset, 0, runs.front().call, runs.front().call};
    bounds->end = runs.back().end();
    for (const auto& run : runs) {
      bounds->first_call = std::min(bounds->first_call, run.call);
      bounds->last_call = std::max(bounds->last_call, run.call);
    }
  });
  return bounds.value();
}

bool ranks_overlap(const Comm& comm, std::span<LogDataset* const> mine) {
  const auto [lines, known] = lines_of(comm, mine);
  std::map<std::pair<const RunList*, std::uint64_t>, std::size_t> first_with;
  std::vector<std::size_t> first_alike;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto found = known.find(lines[i]);
    const bool has_post = found != known.end() && found->second->only_post().runs;
    const bool alike = found == known.end() || has_post;
    const auto* runs = has_post ? found->second->only_post().runs.get() : nullptr;
    first_alike.push_back(alike ? first_with.try_emplace({runs, lines[i].elements}, i).first->second
                                : i);
  }
  const auto map_of = agreed_maps(comm, first_alike);
  DatasetLines maps;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (map_of[i] == maps.size()) maps.push_back(lines[i]);
  }
  bool any = false;
  for_each_line(maps, [&](std::span<const DatasetLine> datasets, const auto& begins, auto end) {
    RunList held;
    for (std::size_t i = 0; i < datasets.size(); ++i) {
      const auto found = known.find(datasets[i]);
      if (found == known.end()) continue;
      const auto add = [&](const auto& run) { append(held, {begins[i] + run.offset, run.length}); };
      if (const auto& post = found->second->only_post(); post.runs) {
        std::for_each(post.runs->begin(), post.runs->end(), add);
      } else {
        found->second->for_each_pending(
            1, [&](const LogRuns& runs) { std::for_each(runs.begin(), runs.end(), add); });
      }
    }
    any = any || slabmark::ranks_overlap(comm, held, end);
  });
  return any;
}

void resolve_overlaps(const Comm& comm, std::span<LogDataset* const> mine,
                      std::span<const WriteOrder> calls) {
  const auto [lines, known] = lines_of(comm, mine);
  for_each_line(lines, [&](std::span<const DatasetLine> datasets, const auto& begins, auto end) {
    RunList held;
    std::vector<std::uint32_t> held_by;
    for (std::size_t i = 0; i < datasets.size(); ++i) {
      const auto found = known.find(datasets[i]);
      if (found == known.end()) continue;
      for (const auto& run : found->second->pending()) {
        held.push_back({begins[i] + run.offset, run.length});
        held_by.push_back(run.call);
      }
    }
    const auto orders = [&](std::span<const std::size_t> runs) {
      // Times as rank 0 has them; another node may have started earlier.
      const auto ahead = static_cast<std::uint64_t>(clock_ahead_of_root(comm));
      constexpr auto middle = std::uint64_t{1} << 63;
      std::vector<WriteOrder> found;
      found.reserve(runs.size());
      for (const auto run : runs) {
        auto order = calls[held_by[run]];
        if (order.time != 0) order.time += middle - ahead;
        found.push_back(order);
      }
      return found;
    };
    const auto lost = overwritten_by_others(comm, held, end, orders);
    for (std::size_t i = 0; i < datasets.size(); ++i) {
      const auto found = known.find(datasets[i]);
      if (found != known.end()) drop(*found->second, {begins[i], datasets[i].elements}, lost);
    }
  });
}

}  // namespace slabmark::slablog
