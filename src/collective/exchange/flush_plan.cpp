#include "collective/exchange/flush_plan.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "collective/exchange/move_elements.hpp"
#include "collective/exchange/ranges.hpp"
#include "collective/exchange/run_exchange.hpp"
#include "core/base/error.hpp"
#include "core/base/has_memory.hpp"
#include "core/parallel/agree.hpp"

namespace slabmark {

namespace {

// Bytes that are worth leaving out: a hundred windows or so, while data that is merely spread thin
// stays one extent. An array of 2^40 elements of which ranks own a handful has millions of windows.
constexpr std::uint64_t wide_hole = std::uint64_t{64} << 20;

// Extents begin at multiples of this in the range, as its windows do where nothing is left out, so
// that they stay aligned.
constexpr std::uint64_t grain = std::uint64_t{4} << 20;

// While a plan is made: 28 of an own piece and 37 of another rank's on an aggregator were measured
// in the drop-in for PnetCDF, where no two ranks have the same element.
constexpr std::uint64_t bytes_of_piece = 64;

/// Merges sorted runs that touch or overlap, in place.
void join(RunList& sorted) {
  std::size_t last = 0;
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i].offset <= sorted[last].end()) {
      sorted[last].length = std::max(sorted[last].end(), sorted[i].end()) - sorted[last].offset;
    } else {
      sorted[++last] = sorted[i];
    }
  }
  if (!sorted.empty()) sorted.resize(last + 1);
}

}  // namespace

// Where all ranks say the same first item, that item's map will do.
std::vector<std::size_t> agreed_maps(const Comm& comm, std::span<const std::size_t> first_alike) {
  const std::size_t items = first_alike.size();
  std::vector<std::int64_t> lowest(2 * items);
  for (std::size_t i = 0; i < items; ++i) {
    lowest[i] = static_cast<std::int64_t>(first_alike[i]);
    lowest[items + i] = -lowest[i];
  }
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, lowest.data(), static_cast<int>(lowest.size()), MPI_INT64_T,
                          MPI_MIN, comm.get()),
            "MPI_Allreduce");
  std::vector<std::size_t> map_of;
  std::size_t maps = 0;
  for (std::size_t i = 0; i < items; ++i) {
    const bool all_agree = lowest[i] == -lowest[items + i];
    const auto first = static_cast<std::size_t>(lowest[i]);
    map_of.push_back(all_agree && first < i ? map_of[first] : maps++);
  }
  return map_of;
}

bool have_memory_to_plan(const Comm& comm, std::uint64_t pieces, std::span<const int> aggregators) {
  const std::uint64_t most = comm.max(pieces);
  if (std::ranges::find(aggregators, comm.rank()) != aggregators.end()) {
    pieces += most * static_cast<std::uint64_t>(comm.size()) / aggregators.size();
  }
  return !comm.any(!has_memory_for(bytes_of_piece * pieces));
}

std::vector<std::uint64_t> line_of_maps(std::span<const PlanMap> maps) {
  std::vector<std::uint64_t> begins;
  std::uint64_t begin = 0;
  for (const PlanMap& map : maps) {
    begins.push_back(begin);
    begin += map.elements;
  }
  return begins;
}

RunList needed_elements(const FileDomain& domain, std::span<const PlanItem> items,
                        std::span<const std::uint64_t> map_begin, std::uint64_t begin,
                        std::uint64_t end) {
  const std::vector<FileDomain::Part> parts = domain.parts_in(begin, end);
  RunList needed;
  if (parts.empty()) return needed;
  for (const PlanItem& item : items) {
    if (item.array < parts.front().array || item.array > parts.back().array) continue;
    const Run& elements = parts[item.array - parts.front().array].elements;
    needed.push_back({map_begin[item.map] + elements.offset, elements.length});
  }
  std::sort(needed.begin(), needed.end());
  join(needed);
  return needed;
}

FlushPlan::FlushPlan(const Comm& comm, const FileDomain& domain, std::vector<PlanMap> maps,
                     std::vector<PlanItem> items, const Aggregation& aggregation,
                     bool refuse_overlaps)
    : maps_(std::move(maps)),
      map_begin_(line_of_maps(maps_)),
      items_(std::move(items)),
      items_of_(domain.arrays().size()),
      cuts_(domain.cut(aggregation.ranks.size(), aggregation.alignment)) {
  for (std::size_t i = 0; i < items_.size(); ++i) items_of_[items_[i].array].push_back(i);
  exchange(comm, domain, aggregation.ranks);
  for (const RunList& runs : incoming_) covered_.insert(covered_.end(), runs.begin(), runs.end());
  sort_runs(covered_);
  agreed(comm, [&] {
    refuse_repeated_elements();
    if (refuse_overlaps) refuse_shared_elements();
  });
  join(covered_);
  covered_.shrink_to_fit();
  find_extents(comm, domain, aggregation.ranks);
}

// Every rank must know them, since all go through the windows of all aggregators.
void FlushPlan::find_extents(const Comm& comm, const FileDomain& domain,
                             std::span<const int> aggregators) {
  std::vector<Run> ranges;
  for (std::size_t a = 0; a < aggregators.size(); ++a) {
    ranges.push_back({cuts_[a], cuts_[a + 1] - cuts_[a]});
    extents_.push_back({ranges.back()});
  }
  const auto me = static_cast<std::size_t>(
      std::find(aggregators.begin(), aggregators.end(), comm.rank()) - aggregators.begin());
  const bool sparse =
      me < aggregators.size() &&
      has_wide_hole(needed_elements(domain, items_, map_begin_, cuts_[me], cuts_[me + 1]));
  if (!comm.any(sparse)) return;
  RunList mine;
  if (me < aggregators.size()) {
    mine = sparse ? between_wide_holes(domain, ranges[me]) : extents_[me];
  }
  const auto of_rank =
      exchange_runs(comm, std::vector<RunList>(static_cast<std::size_t>(comm.size()), mine));
  for (std::size_t a = 0; a < aggregators.size(); ++a) {
    extents_[a] = of_rank[static_cast<std::size_t>(aggregators[a])];
  }
}

/// True if some array may have one among the elements `needed` of the line of all maps.
bool FlushPlan::has_wide_hole(RunList needed) const {
  if (needed.empty()) return false;
  constexpr std::uint64_t smallest = wide_hole / sizeof(std::uint64_t);
  std::uint64_t end = needed.front().offset;
  for (const Run& run : covered_) {
    if (run.offset >= end + smallest) return true;
    end = run.end();
  }
  return needed.back().end() >= end + smallest;
}

RunList FlushPlan::between_wide_holes(const FileDomain& domain, Run range) const {
  RunList extents;
  for (const FileDomain::Part& part : domain.parts_in(range.offset, range.end())) {
    const FileDomain::Array& array = domain.arrays()[part.array];
    const std::uint64_t size = array.place.element_bytes;
    for_each_covered(part.array, part.elements, [&](Run run) {
      const std::uint64_t begin = array.begin + run.offset * size;
      const std::uint64_t end = domain.next_unit(array.begin + run.end() * size);
      if (extents.empty() || begin >= extents.back().end() + wide_hole) {
        const std::uint64_t least = extents.empty() ? range.offset : extents.back().end();
        extents.push_back(
            {std::max(least, domain.unit_begin(begin - (begin - range.offset) % grain)), 0});
      }
      extents.back().length = end - extents.back().offset;
    });
  }
  return extents;
}

void FlushPlan::exchange(const Comm& comm, const FileDomain& domain,
                         std::span<const int> aggregators) {
  RunList mine;
  for (std::size_t m = 0; m < maps_.size(); ++m) {
    for (const Piece& piece : maps_[m].pieces)
      append(mine, {map_begin_[m] + piece.file, piece.length});
  }
  std::vector<RunList> outgoing(static_cast<std::size_t>(comm.size()));
  for (std::size_t a = 0; a < aggregators.size(); ++a) {
    RunList& runs = outgoing[static_cast<std::size_t>(aggregators[a])];
    for (const Run& part : needed_elements(domain, items_, map_begin_, cuts_[a], cuts_[a + 1])) {
      for (const Run& run : within(mine, part)) runs.push_back(common_part(run, part));
    }
  }
  incoming_ = exchange_runs(comm, outgoing);
}

// Binary searches in the pieces rely on it.
void FlushPlan::refuse_repeated_elements() const {
  for (const PlanMap& map : maps_) {
    for (std::size_t i = 1; i < map.pieces.size(); ++i) {
      const Piece& last = map.pieces[i - 1];
      if (map.pieces[i].file >= last.file + last.length) continue;
      throw InputError(
          fmt::format("A rank selects element {} of '{}' twice; let it select each element once.",
                      map.pieces[i].file, map.name));
    }
  }
}

void FlushPlan::refuse_shared_elements() const {
  const auto shared = find_overlap(covered_);
  if (!shared) return;
  const auto after = std::upper_bound(map_begin_.begin(), map_begin_.end(), *shared);
  const auto map = static_cast<std::size_t>(after - map_begin_.begin()) - 1;
  throw written_by_several(*shared - map_begin_[map], maps_[map].name);
}

FlushPlan::OnLine FlushPlan::of_source(int source, std::size_t item, Run part) const {
  return {incoming_[static_cast<std::size_t>(source)],
          {map_begin_[items_[item].map] + part.offset, part.length}};
}

RunList FlushPlan::covered_by_several(std::size_t array, Run part) const {
  RunList all;
  for (const std::size_t item : items_of(array)) {
    for_each_covered_of(item, part, [&](Run run) { all.push_back(run); });
  }
  std::sort(all.begin(), all.end());
  join(all);
  return all;
}

std::uint64_t FlushPlan::memory() const {
  std::size_t runs = covered_.capacity();
  for (const RunList& list : incoming_) runs += list.capacity();
  return runs * sizeof(Run);
}

}  // namespace slabmark
