#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "accel/pnetcdf_dropin/put_memory.hpp"
#include "accel/pnetcdf_dropin/request.hpp"

namespace slabmark::dropin {

/// The requests of a file that were accepted and wait, in the order of the calls.
class PendingRequests {
 public:
  // PnetCDF counts its ids from 0 on: even ones are puts, odd ones gets.
  static constexpr int first_id = 1 << 30;

  explicit PendingRequests(CopyPolicy policy) : memory_(policy) {}

  bool empty() const { return requests_.empty(); }
  int count() const { return static_cast<int>(requests_.size()); }

  /// Keeps a request and returns its id.
  int add(std::unique_ptr<Request> request);
  /// Ids begin anew: none that was given is in use.
  void restart_ids() { next_id_ = 0; }

  Request* find(int id) const;
  /// The requests of a kind, see Request::is_of().
  std::vector<Request*> of_kind(int kind) const;
  template <class Matches>
  bool any(const Matches& matches) const;

  void drop(const std::vector<Request*>& requests);
  /// Drops what a call names by ids, or by a kind in place of their number. Needs no memory.
  void drop(int count, const int* ids);
  /// Hands over the requests that match: take(unique_ptr). Neither may throw.
  template <class Matches, class Take>
  void take(const Matches& matches, const Take& take) noexcept;

  /// Bytes that pending bputs take of the attached buffer. As in PnetCDF, the place of a bput is
  /// not free before all later ones are done.
  std::uint64_t buffered_bytes() const;
  bool has_buffered() const { return !buffered_.empty(); }

  PutMemory& memory() { return memory_; }

 private:
  void drop_done();
  void free_buffered();

  struct Buffered {
    int id;
    std::uint64_t bytes;
  };

  std::vector<std::unique_ptr<Request>> requests_;
  int next_id_ = 0;
  std::vector<Buffered> buffered_;  ///< in the order of the calls, the last one pending
  PutMemory memory_;
};

template <class Matches>
bool PendingRequests::any(const Matches& matches) const {
  for (const auto& request : requests_) {
    if (matches(*request)) return true;
  }
  return false;
}

template <class Matches, class Take>
void PendingRequests::take(const Matches& matches, const Take& take) noexcept {
  for (auto& request : requests_) {
    if (!matches(*request)) continue;
    memory_.release(*request);
    std::erase_if(buffered_, [&](const Buffered& one) { return one.id == request->id; });
    take(std::exchange(request, nullptr));
  }
  std::erase(requests_, nullptr);
  free_buffered();
}

}  // namespace slabmark::dropin
