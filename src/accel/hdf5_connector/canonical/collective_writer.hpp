#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include <mpi.h>

#include "accel/hdf5_connector/selection.hpp"
#include "collective/exchange/rearranger.hpp"
#include "collective/filters/filtered_flush.hpp"
#include "core/base/error.hpp"
#include "core/parallel/comm.hpp"

namespace slabmark::slablog {

/// An array of a file, in the order in which they lie there, those in chunks after the others.
struct ArrayName {
  std::uint64_t chunked = 0;  ///< 1: it is in chunks
  std::uint64_t number = 0;   ///< of its dataset; else the byte at which it begins
  std::uint64_t element_bytes = 1;
  std::uint64_t elements = 0;  ///< of the line of its chunks, too
  std::uint64_t unit = 0;      ///< see ArrayPlace

  auto operator<=>(const ArrayName&) const = default;
};

/// What a rank has of an array of the file, to be written there.
struct Posting {
  ArrayName array;
  /// Nothing but zeros can be there, so that holes may be written over; nothing at all, where it is
  /// in chunks.
  bool fresh = false;
  const ChunkGrid* grid = nullptr;  ///< of an array in chunks

  /// Either runs that others may share, whose elements lie at `data` one after another; `scale` of
  /// the array's elements are one of theirs.
  RunsPtr runs;
  std::uint64_t scale = 1;
  /// Or pieces of its own, ascending without overlap (in the line of the chunks), whose elements
  /// count from `data`.
  std::vector<Piece> pieces;
  const std::byte* data = nullptr;
};

/// What a file knows of its datasets in chunks.
class ChunkedDatasets {
 public:
  virtual ~ChunkedDatasets() = default;
  /// Collective. `offsets` of the flush's domain by number; returns what the flush needs to know of
  /// them, in the order of the offsets.
  virtual std::vector<FilteredArray> arrays(
      const std::map<std::uint64_t, std::uint64_t>& offsets) = 0;
  virtual ChunkStore& store() = 0;
};

/// Some ranks have the same elements, and nothing was written. Thrown on all ranks.
struct ElementsOfSeveral : InputError {
  using InputError::InputError;
};

/// How what all ranks have goes to its places. It serves again where all ranks have the same of
/// arrays that lie alike.
class InPlacePlan {
 public:
  /// `domain` has an array for each of `mine`; null where this rank has nothing of it.
  using Mine = std::span<Posting* const>;
  struct Aggregation {
    std::span<const int> ranks;
    std::uint64_t alignment;  ///< of their ranges, in bytes
  };

  /// Collective. Throws ElementsOfSeveral.
  InPlacePlan(const Comm& comm, const FileDomain& domain, Mine mine,
              const Aggregation& aggregation);

  /// Whether it would serve this rank.
  bool fits(const FileDomain& domain, Mine mine) const;
  /// Takes the places in memory from `mine`, which fits.
  void take(Mine mine);
  const FlushPlan& flush() const { return flush_; }

 private:
  struct Item {
    RunsPtr runs;
    std::uint64_t scale = 1;
    Extent extent, chunk;  ///< of an array in chunks
    std::shared_ptr<std::vector<Piece>> pieces;
  };
  FlushPlan plan(const Comm& comm, const FileDomain& domain, const Aggregation& aggregation) const;

  std::vector<FileDomain::Array> lies_;
  std::vector<Item> items_;  ///< by array
  FlushPlan flush_;
};

/// What the files of a group of ranks have in common: a communicator, the memory to exchange data
/// in, and the latest plans.
class CollectiveWriter {
 public:
  /// Collective over `comm`: that of its ranks, which lives until forget_all().
  static std::shared_ptr<CollectiveWriter> of(MPI_Comm comm);
  /// Before MPI ends.
  static void forget_all();

  explicit CollectiveWriter(MPI_Comm other) : comm_(other) {}

  /// Collective: writes what any rank has. `access` writes bytes into the file; `settings` and
  /// `alignment` are the same on all ranks. Returns the arrays of all ranks. All ranks throw the
  /// same IoError where one could not write, and ElementsOfSeveral where ranks have the same ones.
  std::vector<ArrayName> write(std::span<Posting> mine, RearrangerSettings settings,
                               std::uint64_t alignment, const Rearranger::FileAccess& access,
                               ChunkedDatasets& chunked);

 private:
  static constexpr std::size_t most_plans = 4;

  void prepare(RearrangerSettings settings, const FileDomain& domain);
  InPlacePlan& plan_for(const FileDomain& domain, InPlacePlan::Mine mine, std::uint64_t alignment);

  const Comm comm_;
  RearrangerSettings settings_;
  std::uint64_t largest_chunk_ = 0;  ///< bytes, of all flushes so far
  std::unique_ptr<Rearranger> rearranger_;
  std::list<std::unique_ptr<InPlacePlan>> plans_;  ///< in one order on all ranks, the latest first
};

}  // namespace slabmark::slablog
