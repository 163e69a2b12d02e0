#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "accel/c_library/copies.hpp"
#include "accel/c_library/decomposition.hpp"
#include "collective/exchange/file_domain.hpp"

namespace slabmark::rearrange {

/// A call of the program, to be moved at the next flush.
struct Request {
  bool writes = false;
  int round = 0;  ///< see Rounds
  int variable = 0;
  std::int64_t frame = -1;  ///< -1: the variable has no records
  std::shared_ptr<Decomposition> decomposition;
  ArrayPlace place;
  std::byte* data = nullptr;
  std::shared_ptr<std::byte[]> copy = nullptr;
  std::optional<std::uint64_t> position = std::nullopt;  ///< of a copy for I/O ranks, see Handover
  bool has_fill = false;
  std::vector<std::byte> fill = {};   ///< as many elements as a piece of a hole may have
  const std::string* name = nullptr;  ///< of the variable

  /// The number of its pieces, or of its holes: the same on all ranks, see FileData::Moved.
  std::int64_t pieces_number(bool holes) const {
    return 2 * decomposition->number() + (holes ? 1 : 0);
  }
  /// Has memory for a copy, with which copy_to() cannot fail.
  void prepare_copy(Copies& copies);
  /// Moves from a copy of its own from now on, so that the program's buffer is free.
  void copy_to(Copies& copies);
};
using Requests = std::vector<Request>;

/// Numbers the rounds of the calls of one direction. A flush has as many rounds of puts, and then
/// of gets, as it takes to move no array twice in one: the later call stays. No rank needs to know
/// of the others' calls for that.
class Rounds {
 public:
  int round_of(const Request& request);

 private:
  int round_ = 0;
  std::set<std::pair<int, std::int64_t>> arrays_;  ///< in it: variable, frame
};

}  // namespace slabmark::rearrange
