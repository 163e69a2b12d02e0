#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "accel/hdf5_connector/canonical/posting.hpp"
#include "collective/plan.hpp"

namespace slabmark::slablog {

/// The postings of this rank that a plan was made for. The plan serves again where all ranks have
/// the same elements of arrays that lie alike.
class PostingKey {
 public:
  /// One for each array of the flush; null where this rank has nothing of it.
  using Mine = std::span<Posting* const>;

  /// Takes the pieces of `mine`.
  explicit PostingKey(Mine mine);

  /// The items of the plan. They refer to this key, which must live as long.
  std::vector<collective::Item> items() const;
  /// True if the plan would serve this rank.
  bool fits(Mine mine) const;
  /// Takes the places in memory from `mine`, which fits.
  void take(Mine mine);

 private:
  struct Part {
    RunsPtr runs;
    std::uint64_t scale = 1;
    Extent extent, chunk;                        ///< of an array in chunks
    std::shared_ptr<std::vector<Piece>> pieces;  ///< null: nothing

    bool fits(const Posting* posting) const;
  };

  std::vector<Part> parts_;  ///< by array
};

}  // namespace slabmark::slablog
