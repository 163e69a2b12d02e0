#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "collective/exchange/file_domain.hpp"
#include "collective/exchange/flush_plan.hpp"
#include "core/geometry/piece.hpp"
#include "core/parallel/comm.hpp"

namespace slabmark::rearrange {

/// What this rank has of all arrays that are laid out alike, ascending in the array. Plans know it
/// by its address.
using PiecesPtr = std::shared_ptr<const std::vector<Piece>>;

/// This rank's part of one array in a flush. All ranks name the same arrays in the same order.
struct Part {
  ArrayPlace place;  ///< not empty
  PiecesPtr pieces;
  std::byte* buffer = nullptr;
  std::string_view name;  ///< of the array, for messages
};

/// What is to be moved, and how aggregators share it.
struct Layout {
  std::span<const Part> parts;
  const FileDomain& domain;  ///< of their places
  std::uint64_t alignment;   ///< of the aggregators' ranges, in bytes
  bool refuse_overlaps;
};

/// How a flush goes to the file, or comes from there, with what it was made for. Flushes that look
/// alike on all ranks share it, also those of other files: the records of a time series lie
/// elsewhere in the file but alike. Ranges of aggregators are aligned for the first of them: where
/// later ones are not, neighbours share a page, or a stripe, which costs less than a plan.
class Plan {
 public:
  /// Collective; see FlushPlan.
  Plan(const Comm& comm, const Layout& layout, std::span<const int> aggregators);

  /// Whether it is for `layout`, on this rank, with the same aggregators.
  bool fits(const Layout& layout) const { return Key(layout) == key_; }

  const FlushPlan& flush() const { return flush_; }

 private:
  struct Key {
    explicit Key(const Layout& layout);
    bool operator==(const Key&) const = default;

    std::vector<PiecesPtr> pieces;
    std::vector<std::size_t> arrays;
    std::vector<FileDomain::Array> lie;  ///< as the arrays lie to each other, wherever in the file
    std::uint64_t alignment;
    bool refuse_overlaps;
  };

  static std::vector<std::size_t> first_alike(const Key& key);

  Key key_;
  FlushPlan flush_;
};

}  // namespace slabmark::rearrange
