#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <vector>

#include <mpi.h>

#include "exchange/rearranger.hpp"
#include "parallel/comm.hpp"
#include "slablog/selection.hpp"

namespace slabmark::slablog {

/// What a rank has of an array of the file, to be written there.
struct Posting {
  ArrayPlace place;
  bool fresh = false;  ///< nothing but zeros can be there: holes may be written over

  /// Either runs that others may share, whose elements lie at `data` one after another; `scale` of
  /// the array's elements are one of theirs.
  RunsPtr runs;
  std::uint64_t scale = 1;
  /// Or pieces of its own, ascending without overlap, whose elements count from `data`.
  std::vector<Piece> pieces;
  const std::byte* data = nullptr;
};

/// How what all ranks have goes to its places. It serves again where all ranks have the same of
/// arrays that lie alike.
class InPlacePlan {
 public:
  /// `region` has an array for each of `mine`; null where this rank has nothing of it.
  using Mine = std::span<Posting* const>;
  struct Aggregation {
    std::span<const int> ranks;
    std::uint64_t alignment;  ///< of their ranges, in bytes
  };

  /// Collective. Of an element that several ranks have, the highest rank's stays.
  InPlacePlan(const Comm& comm, const Region& region, Mine mine, const Aggregation& aggregation);

  /// Whether it would serve this rank.
  bool fits(const Region& region, Mine mine) const;
  /// Whether it serves other elements than those that it was made for.
  bool serves_again() const { return serves_again_; }
  /// Takes the places in memory from `mine`, which fits.
  void take(Mine mine);
  const FlushPlan& flush() const { return flush_; }

 private:
  struct Item {
    RunsPtr runs;
    std::uint64_t scale = 1;
    std::shared_ptr<std::vector<Piece>> pieces;
  };
  FlushPlan plan(const Comm& comm, const Region& region, const Aggregation& aggregation,
                 bool refuse_overlaps) const;
  void leave_to_highest_rank(const Comm& comm, const Region& region);

  std::vector<Region::Array> lies_;
  std::vector<Item> items_;  ///< by array
  FlushPlan flush_;
  bool serves_again_ = true;
};

/// What the files of a group of ranks have in common: a communicator, the memory to exchange data
/// in, and the latest plans.
class InPlaceWriter {
 public:
  /// Collective over `comm`: that of its ranks, which lives until forget_all().
  static std::shared_ptr<InPlaceWriter> of(MPI_Comm comm);
  /// Before MPI ends.
  static void forget_all();

  explicit InPlaceWriter(MPI_Comm other) : comm_(other) {}

  /// Collective: writes what any rank has. `access` writes bytes into the file; `settings` and
  /// `alignment` are the same on all ranks. Returns the places of all ranks' arrays, ascending. All
  /// ranks throw the same IoError where one could not write.
  std::vector<ArrayPlace> write(std::span<Posting> mine, const RearrangerSettings& settings,
                                std::uint64_t alignment, const Rearranger::FileAccess& access);

 private:
  static constexpr std::size_t most_plans = 4;

  void prepare(const RearrangerSettings& settings);
  InPlacePlan& plan_for(const Region& region, InPlacePlan::Mine mine, std::uint64_t alignment);

  const Comm comm_;
  RearrangerSettings settings_;
  std::unique_ptr<Rearranger> rearranger_;
  std::list<std::unique_ptr<InPlacePlan>> plans_;  ///< in one order on all ranks, the latest first
};

}  // namespace slabmark::slablog
