#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "bench/pattern/selection.hpp"
#include "core/geometry/run.hpp"
#include "core/parallel/comm.hpp"

namespace slabmark {

/// When a call moved its elements, as far as all ranks know it. Calls are ordered by epoch, those
/// of one epoch by number.
struct CallStamp {
  std::uint64_t epoch = 0;   ///< of the points at which all ranks of the file met, the last before
  std::uint64_t number = 0;  ///< of a blocking call of all ranks, from 1; 0: ranks know no order
  bool is_waited_for = false;  ///< a nonblocking call

  /// True if every element of this call that `later` moves again is moved by that one afterwards.
  bool is_before(const CallStamp& later) const {
    return epoch < later.epoch || (epoch == later.epoch && number > 0 && number < later.number);
  }
  /// True if ranks with equal stamps move their elements in one collective call.
  bool is_collective() const { return number > 0 || is_waited_for; }

  auto operator<=>(const CallStamp&) const = default;
};

/// The elements that one rank moves of one target (a dataset, or a record of it) in one round.
struct MovedStream {
  std::vector<SelectionPtr> parts;  ///< in the order of calls
  /// Stamps of the same elements, and for how many in a row each holds.
  std::vector<std::pair<CallStamp, std::uint64_t>> calls;
};

struct Overlaps {
  bool of_ranks = false;    ///< several ranks move the same element
  bool in_a_call = false;   ///< also in one collective call
  std::uint64_t moved = 0;  ///< elements that different ranks move in different calls
  /// By target and stream of this rank: positions in the order of calls of the elements that a
  /// later call moves again, sorted.
  std::map<std::pair<std::size_t, std::size_t>, RunList> superseded;
};

/// Collective. `targets` has this rank's streams of each target, equally many targets and streams
/// on all ranks; targets with the same selections are looked at once. `elements` are the targets'.
Overlaps find_overlaps(const Comm& comm, const std::vector<std::vector<MovedStream>>& targets,
                       const std::vector<std::uint64_t>& elements);

}  // namespace slabmark
