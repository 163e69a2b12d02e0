#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "capture/read/pending_requests.hpp"
#include "capture/replay/captured_calls.hpp"
#include "capture/replay/replay.hpp"
#include "core/parallel/comm.hpp"

namespace slabmark {

/// Collective writes that all ranks make together: whether a rank has nothing in one of them while
/// another has something, which is when ROMIO may lose elements (docs/known-issues.md).
class CollectiveWrites {
 public:
  /// `may_sieve`: whether ROMIO may read and write the holes of the file of that opening.
  explicit CollectiveWrites(std::function<bool(std::uint64_t opening)> may_sieve)
      : may_sieve_(std::move(may_sieve)) {}

  /// `call` was made by `replay`.
  void note(const CapturedCall& call, const Replay& replay);
  /// Collective.
  bool some_rank_is_idle(const Comm& comm) const;

 private:
  enum : std::uint8_t { nothing = 1, something = 2 };

  void add(std::uint64_t opening, bool has_elements);

  std::function<bool(std::uint64_t)> may_sieve_;
  std::map<std::uint64_t, PendingRequests> pending_;  ///< writes with elements, by opening
  std::map<std::uint64_t, bool> sieved_;              ///< by opening
  std::vector<std::uint8_t> of_this_rank_;
};

}  // namespace slabmark
