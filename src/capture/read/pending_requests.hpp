#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "capture/format/event_flags.hpp"
#include "capture/read/events.hpp"

namespace slabmark {

/// Nonblocking calls that are neither waited for nor cancelled yet.
class PendingRequests {
 public:
  bool is_empty() const { return writes_.empty(); }

  /// Notes what an event posts, and what it waits for or cancels: returns their numbers.
  std::vector<std::uint64_t> note(const CapturedEvent& event) {
    using Requests = CapturedEvent::Requests;
    std::vector<std::uint64_t> taken;
    if (event.request > 0) writes_[event.request] = event.has(capture::writes);
    for (const std::uint64_t request : event.listed) {
      if (writes_.erase(request) > 0) taken.push_back(request);
    }
    if (event.requests == Requests::none || event.requests == Requests::listed) return taken;
    std::erase_if(writes_, [&](const auto& pending) {
      const bool is_named = event.requests == Requests::all ||
                            pending.second == (event.requests == Requests::all_writing);
      if (is_named) taken.push_back(pending.first);
      return is_named;
    });
    return taken;
  }

 private:
  std::map<std::uint64_t, bool> writes_;  ///< by number
};

}  // namespace slabmark
