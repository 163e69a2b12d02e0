#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "collective/exchange/file_domain.hpp"
#include "collective/exchange/move_elements.hpp"
#include "core/geometry/piece.hpp"
#include "core/geometry/run.hpp"
#include "core/parallel/comm.hpp"

namespace slabmark {

/// A decomposition of arrays of one size: what this rank has of each array laid out by it.
struct PlanMap {
  std::span<const Piece> pieces;  ///< ascending in the file; outlives the plan
  std::uint64_t elements = 0;     ///< of the whole array
  std::string name;               ///< of an array that uses it, for messages
};

/// One array of a flush, laid out by one map. An array may have several items.
struct PlanItem {
  std::size_t array = 0;  ///< index into the domain's arrays
  std::size_t map = 0;
};

/// Collective. Which items share a map: those whose pieces are the same on every rank.
/// `first_alike`: for each item, the first one that has the same pieces as it on this rank. Returns
/// the map of each item; maps are numbered as items first need them.
std::vector<std::size_t> agreed_maps(const Comm& comm, std::span<const std::size_t> first_alike);

/// Where the elements of each map begin on the line of all maps' elements.
std::vector<std::uint64_t> line_of_maps(std::span<const PlanMap> maps);

/// The elements on the line of all maps that an aggregator of the positions [begin, end) needs to
/// know of: those of any array there, sorted and merged. An aggregator of a whole array needs its
/// whole map, once.
RunList needed_elements(const FileDomain& domain, std::span<const PlanItem> items,
                        std::span<const std::uint64_t> map_begin, std::uint64_t begin,
                        std::uint64_t end);

/// Collective. True if every rank has the memory to make a plan, or whatever else brings `pieces`
/// of this rank to `aggregators`: while ranks make one they wait for each other.
bool have_memory_to_plan(const Comm& comm, std::uint64_t pieces, std::span<const int> aggregators);

/// How aggregators share a file domain.
struct Aggregation {
  std::span<const int> ranks;   ///< of the aggregators, ascending
  std::uint64_t alignment = 1;  ///< of their ranges, in bytes: see FileDomain::cut
};

/// The elements that each rank sends to each aggregator when the arrays of a domain go through
/// aggregators: each owns one range of the domain's positions. A rank sends according to its own
/// pieces; an aggregator knows the elements that it gets as runs of each map, which all its arrays
/// of that map share.
class FlushPlan {
 public:
  FlushPlan() = default;

  /// Collective; maps and items are the same on all ranks, pieces are each rank's own. Every rank
  /// throws InputError where a rank has an element twice, and, with `refuse_overlaps`, where two
  /// ranks have the same one.
  FlushPlan(const Comm& comm, const FileDomain& domain, std::vector<PlanMap> maps,
            std::vector<PlanItem> items, const Aggregation& aggregation, bool refuse_overlaps);

  /// The positions of an aggregator's range that are worth a window, ascending: all of it, or where
  /// that has wide holes that no rank has anything of, what lies between them.
  std::span<const Run> extents(std::size_t aggregator) const { return extents_[aggregator]; }

  /// Indices of the items of an array.
  std::span<const std::size_t> items_of(std::size_t array) const { return items_of_[array]; }

  /// This rank's pieces of an item.
  std::span<const Piece> pieces(std::size_t item) const { return maps_[items_[item].map].pieces; }

  /// The elements that rank `source` has of `part` of an item that this rank aggregates, as runs on
  /// the line of all maps, together with `part` on that line.
  struct OnLine {
    std::span<const Run> runs;
    Run part;
  };
  OnLine of_source(int source, std::size_t item, Run part) const;

  /// Visits the elements of `part` of an array, aggregated by this rank, that some rank has: as
  /// runs, sorted and merged.
  template <class Visit>
  void for_each_covered(std::size_t array, Run part, const Visit& visit) const;

  /// Bytes that this rank holds for the plan, without the pieces.
  std::uint64_t memory() const;

 private:
  template <class Visit>
  void for_each_covered_of(std::size_t item, Run part, const Visit& visit) const;
  RunList covered_by_several(std::size_t array, Run part) const;
  void exchange(const Comm& comm, const FileDomain& domain, std::span<const int> aggregators);
  void find_extents(const Comm& comm, const FileDomain& domain, std::span<const int> aggregators);
  bool has_wide_hole(RunList needed) const;
  RunList between_wide_holes(const FileDomain& domain, Run range) const;
  void refuse_repeated_elements() const;
  void refuse_shared_elements() const;

  std::vector<PlanMap> maps_;
  std::vector<std::uint64_t> map_begin_;  ///< of each map on the line of all maps' elements
  std::vector<PlanItem> items_;
  std::vector<std::vector<std::size_t>> items_of_;  ///< by array
  std::vector<std::uint64_t> cuts_;
  std::vector<RunList> incoming_;  ///< by rank, each sorted
  RunList covered_;                ///< of all ranks
  std::vector<RunList> extents_;   ///< by aggregator
};

template <class Visit>
void FlushPlan::for_each_covered_of(std::size_t item, Run part, const Visit& visit) const {
  const std::uint64_t begin = map_begin_[items_[item].map];
  const Run on_line{begin + part.offset, part.length};
  for (const Run& run : within(covered_, on_line)) {
    const Run common = common_part(run, on_line);
    visit(Run{common.offset - begin, common.length});
  }
}

template <class Visit>
void FlushPlan::for_each_covered(std::size_t array, Run part, const Visit& visit) const {
  const auto items = items_of(array);
  if (items.size() == 1) {
    for_each_covered_of(items.front(), part, visit);
  } else {
    for (const Run& run : covered_by_several(array, part)) visit(run);
  }
}

}  // namespace slabmark
