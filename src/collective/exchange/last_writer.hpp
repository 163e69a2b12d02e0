#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/geometry/piece.hpp"
#include "core/geometry/run.hpp"
#include "core/parallel/comm.hpp"

namespace slabmark {

/// When elements were written: the later one is greater.
struct WriteOrder {
  std::uint64_t number = 0;  ///< which counts what all ranks do together
  std::uint64_t time = 0;    ///< within the same number

  auto operator<=>(const WriteOrder&) const = default;
};

/// A run that a rank holds.
struct HeldRun {
  Run run;
  std::size_t rank = 0;
  WriteOrder order;
};

/// Leaves each element to the rank that wrote it last, and where the order is equal to the highest
/// rank. Returns the runs of each of `ranks`, ascending.
std::vector<RunList> last_written(std::vector<HeldRun> held, std::size_t ranks);

/// Collective. True if several ranks hold the same element of an array of `total`. `held`: the runs
/// of this rank, ascending without overlap.
bool ranks_overlap(const Comm& comm, std::span<const Run> held, std::uint64_t total);

/// Collective. Returns those parts of `held` that another rank has written later, ascending; where
/// the order is equal, the highest rank is the last. `orders` returns the order of each run of a
/// list of indices into `held`. It is called only where ranks overlap, then on all ranks, so it may
/// be collective.
RunList overwritten_by_others(
    const Comm& comm, std::span<const Run> held, std::uint64_t total,
    const std::function<std::vector<WriteOrder>(std::span<const std::size_t>)>& orders);

/// An array of all ranks, and this rank's pieces of it, ascending without overlap.
struct HeldArray {
  std::span<const Piece> pieces;
  std::uint64_t elements = 0;  ///< of the array
};

/// A piece of a held array, by their indices.
struct HeldPiece {
  std::size_t array = 0, piece = 0;
};
using WriteOrders = std::function<std::vector<WriteOrder>(std::span<const HeldPiece>)>;

/// Collective, with the same arrays on all ranks. Leaves each element that several ranks hold to
/// the rank that wrote it last, and to the highest rank if the order is equal. Returns the pieces
/// that remain with this rank, by array. `orders` returns when each of a list of pieces was
/// written; null: all at the same time. It is called when overwritten_by_others() would call its
/// `orders`.
std::vector<std::vector<Piece>> resolve_overlaps(const Comm& comm,
                                                 std::span<const HeldArray> arrays,
                                                 const WriteOrders& orders = nullptr);

}  // namespace slabmark
