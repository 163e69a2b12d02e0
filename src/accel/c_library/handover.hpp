#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "accel/c_library/io_ranks.hpp"
#include "accel/c_library/served_ranks.hpp"
#include "collective/exchange/shared_staging.hpp"
#include "collective/plan.hpp"
#include "core/parallel/comm.hpp"

namespace slabmark::rearrange {

using collective::PiecesPtr;

/// Memory in which ranks of the program leave copies of what they put, as it stands, to the I/O
/// rank of their node, which moves it from there while the program goes on. So I/O ranks have
/// elements of their own: those of the ranks that they serve, whose buffers stand side by side.
/// Positions are bytes of a flush's memory, the same for all I/O ranks.
class Handover {
 public:
  /// Collective over `all`, which outlives it. `in_flight`: flushes that may be unwritten.
  Handover(const Comm& all, const IoRanks& io_ranks, std::uint64_t node_ranks,
           std::uint64_t in_flight);

  /// True if each rank of the program has an I/O rank on its node; the same on all ranks.
  bool is_possible() const { return ranks_.are_all_served(); }
  std::uint64_t flushes() const { return flushes_; }                  ///< that there is memory for
  std::uint64_t bytes() const { return bytes_; }                      ///< of the memory for each
  std::uint64_t most_served() const { return ranks_.most_served(); }  ///< ranks of any I/O rank

  /// Collective over all ranks: memory for so many bytes of each flush. All were written, and
  /// nothing is kept. False on all ranks: there is none to be had.
  bool reserve(std::uint64_t bytes);

  // On ranks of the program, which make the same calls.

  bool knows(std::int64_t pieces) const { return known_.contains(pieces); }
  /// Collective over all ranks, see learn(): this rank's pieces of a buffer of `count` elements,
  /// under a number of theirs. `owner`: when it goes, they are of no more use. Throws the same
  /// Failure on all ranks.
  void share(std::int64_t number, const std::vector<Piece>& pieces, std::uint64_t count,
             const std::weak_ptr<const void>& owner);
  /// Numbers of pieces whose owners have gone.
  std::vector<std::int64_t> forgotten();
  /// Bytes that the buffers of these pieces take.
  std::uint64_t bytes_of(std::int64_t pieces, std::uint64_t element_bytes) const;

  /// One file at a time leaves what it puts here. False: another one has begun.
  bool claim(std::int64_t file);
  /// Nothing of what the file has left here since the last flush is of use.
  void drop(std::int64_t file);

  struct Copy {
    std::uint64_t position;
    std::byte* memory;
  };
  /// A copy of a buffer; none where the pieces are not known, another file has begun, or there is
  /// not enough memory. Waits where I/O ranks have not yet written what was there.
  std::optional<Copy> copy(std::int64_t file, std::int64_t pieces, const std::byte* data,
                           std::uint64_t element_bytes);

  /// Flushes that the I/O rank of this one has written, since the memory is there.
  std::uint64_t written() const;
  /// All I/O ranks have written so many, as all ranks of the program know now.
  void know_written(std::uint64_t flushes) { known_written_ = flushes; }

  /// Gives the copies, of which there are some, to the I/O ranks. Returns the number of their
  /// memory.
  std::int64_t hand_over();

  // On I/O ranks.

  void learn(std::int64_t number);  ///< what the others share()
  void forget(std::int64_t number) { learnt_.erase(number); }
  PiecesPtr pieces(std::int64_t number) const { return learnt_.at(number); }
  /// The memory of the next flush, when all copies are in it.
  std::byte* await(std::int64_t memory);
  void set_written();

 private:
  static constexpr std::size_t most_flushes = WindowCounts::most_slots;

  struct Known {
    std::uint64_t before = 0;    ///< elements of other ranks that stand before this one's
    std::uint64_t count = 0;     ///< of this rank
    std::uint64_t together = 0;  ///< of the I/O rank that has most
    std::weak_ptr<const void> owner;
  };

  /// The flush whose copies come in now.
  struct Filling {
    std::int64_t file = 0;  ///< that leaves them; 0: none has begun
    std::optional<std::size_t> memory;
    std::uint64_t used = 0;  ///< bytes of the memory
  };

  std::byte* memory(std::size_t flush) const {
    return staging_->of(ranks_.server()) + flush * bytes_;
  }
  WindowCounts& counts() const { return staging_->counts(ranks_.server()); }
  void choose_memory();

  const Comm& all_;
  const IoRanks& io_ranks_;
  std::uint64_t node_ranks_, flushes_;
  ServedRanks ranks_;

  std::unique_ptr<SharedStaging> staging_;
  std::uint64_t bytes_ = 0;

  std::unordered_map<std::int64_t, Known> known_;
  Filling filling_;
  std::array<std::uint64_t, most_flushes> last_ = {};  ///< flush that each memory had, from 1 on
  std::uint64_t handed_over_ = 0, known_written_ = 0;

  std::unordered_map<std::int64_t, PiecesPtr> learnt_;
  std::array<std::uint64_t, most_flushes> expected_ = {};  ///< copies, of each memory
};

}  // namespace slabmark::rearrange
