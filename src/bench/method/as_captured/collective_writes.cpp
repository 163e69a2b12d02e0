#include "bench/method/as_captured/collective_writes.hpp"

#include <algorithm>

namespace slabmark {

bool PendingWrites::take(const CapturedEvent& wait) {
  using Requests = CapturedEvent::Requests;
  std::set<std::uint64_t>& pending = of_file_[wait.file];
  if (wait.requests == Requests::all_reading) return false;
  bool found = false;
  for (const std::uint64_t request : wait.listed) found = pending.erase(request) > 0 || found;
  if (wait.requests == Requests::listed) return found;
  found = !pending.empty();
  pending.clear();
  return found;
}

bool CollectiveWrites::some_rank_is_idle(const Comm& comm) const {
  std::vector<std::uint8_t> of_any = of_this_rank_;
  // As many on all ranks, unless some of them have gone astray: what a rank lacks is nothing.
  of_any.resize(comm.max(std::uint64_t{of_any.size()}), nothing);
  comm.bitwise_or(of_any);
  return std::find(of_any.begin(), of_any.end(), nothing | something) != of_any.end();
}

}  // namespace slabmark
