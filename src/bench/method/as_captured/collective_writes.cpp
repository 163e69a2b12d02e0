#include "bench/method/as_captured/collective_writes.hpp"

#include <algorithm>

namespace slabmark {

void CollectiveWrites::note(const CapturedCall& call, const Replay& replay) {
  const CapturedEvent& event = call.event();
  const bool in_collective = call.is_made_by_all && event.has(capture::collective);
  if (event.requests != CapturedEvent::Requests::none) {
    const bool writes = !pending_[event.file].note(event).empty();
    if (in_collective && replay.waits_write_together()) add(event.file, writes);
  } else if (event.has(capture::writes)) {
    if (event.request != 0 && call.has_elements()) pending_[event.file].note(event);
    if (in_collective) add(event.file, call.has_elements());
  }
}

void CollectiveWrites::add(std::uint64_t opening, bool has_elements) {
  const auto [known, is_new] = sieved_.try_emplace(opening, false);
  if (is_new) known->second = may_sieve_(opening);
  if (known->second) of_this_rank_.push_back(has_elements ? something : nothing);
}

bool CollectiveWrites::some_rank_is_idle(const Comm& comm) const {
  std::vector<std::uint8_t> of_any = of_this_rank_;
  // As many on all ranks, unless some of them have gone astray: what a rank lacks is nothing.
  of_any.resize(comm.max(std::uint64_t{of_any.size()}), nothing);
  comm.bitwise_or(of_any);
  return std::find(of_any.begin(), of_any.end(), nothing | something) != of_any.end();
}

}  // namespace slabmark
