#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "collective/exchange/file_domain.hpp"
#include "collective/exchange/flush_plan.hpp"
#include "collective/exchange/last_writer.hpp"
#include "core/base/error.hpp"
#include "core/geometry/piece.hpp"
#include "core/parallel/comm.hpp"

namespace slabmark::collective {

/// Pieces of an array, ascending in it. Plans compare them by their address.
using PiecesPtr = std::shared_ptr<const std::vector<Piece>>;

/// The elements that a request of this rank has of one array.
struct Source {
  std::size_t request = 0;  ///< whose memory `buffer` of the pieces counts in
  PiecesPtr pieces;
  bool repeats = false;  ///< the pieces have elements in common
};

/// One array of a flush. All ranks bring the same items in the same order; a rank that has nothing
/// of an array brings no sources.
struct Item {
  std::size_t array = 0;        ///< of the file domain, which may have several items
  std::vector<Source> sources;  ///< in the order of the calls
  std::string name;             ///< of the array, for messages
};

/// How a plan treats elements that several ranks have.
enum class Overlaps {
  allowed,   ///< ranks read them, or write the same to them
  refused,   ///< the plan throws SharedElements
  last_wins  ///< those of the last collective call are written, and of one call the highest rank's
};

/// Several ranks write the same elements, and nothing was written. All ranks throw it.
struct SharedElements : InputError {
  using InputError::InputError;
};

/// How the requests of all ranks go to the file, or come from there. It serves again for requests
/// that are alike, wherever in a file their arrays lie: the records of a time series do, and those
/// of the next file. Ranges of aggregators are aligned for the first of them: where later ones are
/// not, neighbors share a page, or a stripe, which costs less than a plan.
class Plan {
 public:
  struct Request {
    bool writes;
    Overlaps overlaps;
    /// With last_wins: when pieces were written. Null: all in one collective call. It is called
    /// where ranks overlap, on all of them.
    WriteOrders orders = nullptr;
  };

  Plan() = default;
  /// Collective. Where a rank has an element twice, a read fills both places, and a write moves
  /// that of its last source, and of one source that of the last place in memory.
  Plan(const Comm& comm, const FileDomain& domain, std::vector<Item> items,
       const Aggregation& aggregation, const Request& request);

  /// True if the arrays lie to each other as when the plan was made.
  bool lies_alike(const FileDomain& domain) const;
  /// The same, and that the items are those of arrays at `places`, one for each.
  bool lies_alike(const FileDomain& domain, std::span<const ArrayPlace> places) const;

  const FlushPlan& flush() const { return flush_; }

  /// True if on some rank several sources share an item.
  bool some_rank_stages() const { return some_rank_stages_; }
  /// One buffer for each item. `memory` is that of the requests. Items that several sources share
  /// have theirs in `staging`, which holds the elements already if they are written.
  std::vector<std::byte*> buffers(std::span<std::byte* const> memory,
                                  std::vector<std::byte>& staging) const;
  /// Hands what was read into `staging` on to the requests.
  void distribute(std::span<std::byte* const> memory, std::vector<std::byte>& staging) const;

  /// Counts each element that this rank asks for once, also where another rank's stays.
  std::uint64_t distinct_bytes() const { return distinct_bytes_; }
  /// Bytes that this rank holds for the plan, without the pieces of its sources.
  std::uint64_t memory() const;

 private:
  struct Copy {
    std::uint64_t from, to, length;  ///< elements of the item's staging
  };
  struct Planned {
    Item item;
    PiecesPtr pieces;  ///< that move: of the only source, or made for this plan
    bool is_staged = false;
    std::uint64_t staged_elements = 0;
    std::vector<Copy> copies = {};  ///< of elements that are read to several places
  };

  void stage(Planned& planned, bool writes) const;
  void resolve(const Comm& comm, const WriteOrders& orders);
  FlushPlan make(const Comm& comm, const FileDomain& domain, const Aggregation& aggregation,
                 bool refuse_overlaps) const;
  std::uint64_t element_bytes(const Planned& planned) const {
    return lies_[planned.item.array].place.element_bytes;
  }
  std::uint64_t elements(const Planned& planned) const {
    return lies_[planned.item.array].place.elements;
  }
  template <class Move>
  void for_each_staged(std::span<std::byte* const> memory, std::vector<std::byte>& staging,
                       const Move& move) const;

  std::vector<Planned> items_;
  std::vector<FileDomain::Array> lies_;  ///< the arrays, wherever they begin in the file
  bool some_rank_stages_ = false;
  std::uint64_t distinct_bytes_ = 0;
  FlushPlan flush_;
};

}  // namespace slabmark::collective
