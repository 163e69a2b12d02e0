#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "capture/read/events.hpp"
#include "core/parallel/comm.hpp"

namespace slabmark {

/// Nonblocking writes of this rank that have elements, until they are waited for or cancelled.
class PendingWrites {
 public:
  void add(const CapturedEvent& posted) { of_file_[posted.file].insert(posted.request); }
  /// Whether `wait`, which names requests, is for one of them; then it is no longer pending.
  bool take(const CapturedEvent& wait);

 private:
  std::map<std::uint64_t, std::set<std::uint64_t>> of_file_;  ///< numbers of requests
};

/// Collective writes that all ranks make together: whether a rank has nothing in one of them while
/// another has something, which is when ROMIO may lose elements (docs/methods.md).
class CollectiveWrites {
 public:
  void add(bool has_elements) { of_this_rank_.push_back(has_elements ? something : nothing); }
  /// Collective.
  bool some_rank_is_idle(const Comm& comm) const;

 private:
  enum : std::uint8_t { nothing = 1, something = 2 };
  std::vector<std::uint8_t> of_this_rank_;
};

}  // namespace slabmark
