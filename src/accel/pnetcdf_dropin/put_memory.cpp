#include "accel/pnetcdf_dropin/put_memory.hpp"

#include <atomic>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <string_view>

namespace slabmark::dropin {

namespace {

// PnetCDF copies up to 4 KiB of what it must convert to the file's byte order. A copy of 16 KiB
// takes 0.5 us, as long as looking at larger memory twice; to move it takes 3.
constexpr std::uint64_t most_small = 16u << 10;

/// Some rank of this process has changed the memory of a pending put.
std::atomic<bool> copies_all = false;

void copy(Request& request) {
  request.packed = std::make_unique_for_overwrite<std::byte[]>(request.bytes());
  request.memory->pack(request.packed.get());
}

}  // namespace

// PnetCDF copies all that it must convert where it may not convert it in the program's memory.
CopyPolicy copy_policy(const std::map<std::string, std::string>& in_effect) {
  const char* const set = std::getenv("SLABMARK_DROPIN_COPY");
  const std::string_view word = set ? set : "";
  if (word == "never") return CopyPolicy::never;
  const auto in_place = in_effect.find("nc_in_place_swap");
  const bool may_not = in_place != in_effect.end() && in_place->second == "disable";
  // A misspelled word must not give up what the user asked for, so it copies all.
  const bool is_default = word.empty() || word == "overlap";
  return is_default && !may_not ? CopyPolicy::overlap : CopyPolicy::always;
}

// Programs use one buffer for put after put, and PnetCDF lets that pass where it copies. Once one
// did, each put of the file is copied. The request is entered among those in place last of all, so
// that it is not there where this throws.
void PutMemory::add(Request& request) {
  if (policy_ != CopyPolicy::never) {
    copy_shared(request);
    if (request.direction == Direction::put && !request.packed) {
      if (policy_ == CopyPolicy::always || copies_all || request.bytes() <= most_small) {
        copy(request);
      } else {
        request.sample = request.memory->sample();
        in_place_.emplace(request.memory->address(), &request);
      }
    }
  }
  if (request.packed) held_bytes_ += request.bytes();
}

/// Copies the pending puts whose memory the request has, too.
void PutMemory::copy_shared(const Request& request) {
  const auto [begin, end] = request.memory->range();
  // No two of them have memory in common, so their ends ascend, too.
  auto next = in_place_.upper_bound(begin);
  if (next != in_place_.begin()) --next;
  while (next != in_place_.end() && std::less()(next->first, end)) {
    Request& pending = *next->second;
    if (!std::less()(begin, pending.memory->range().second)) {
      ++next;
      continue;
    }
    check({&pending});
    copy(pending);
    held_bytes_ += pending.bytes();
    next = in_place_.erase(next);
    policy_ = CopyPolicy::always;
  }
}

void PutMemory::release(const Request& request) {
  if (request.packed) {
    held_bytes_ -= request.bytes();
  } else if (request.direction == Direction::put) {
    in_place_.erase(request.memory->address());
  }
}

void PutMemory::check(const std::vector<Request*>& puts) {
  for (const Request* put : puts) {
    const bool is_watched = !put->packed && policy_ != CopyPolicy::never;
    if (is_watched && put->memory->sample() != put->sample) changed_variable_ = put->variable;
  }
}

bool PutMemory::copy_all_from_now_on() { return !copies_all.exchange(true); }

}  // namespace slabmark::dropin
