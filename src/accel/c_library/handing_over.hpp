#pragma once

#include <cstdint>

#include "accel/c_library/file_data.hpp"
#include "accel/c_library/request.hpp"
#include "accel/c_library/system.hpp"

namespace slabmark::rearrange {

/// The requests of a flush that are moved in one go, see FileData::Moved.
class MovedRequests {
 public:
  explicit MovedRequests(std::int64_t records) { moved_.records = records; }

  /// Adds a request, or the holes that it fills.
  void add(const Request& request, bool holes, const PiecesPtr& pieces, std::byte* buffer);
  const FileData::Moved& get() const { return moved_; }

 private:
  FileData::Moved moved_;
};

/// Collective: leaves the requests of a flush, which are puts, to the I/O ranks. False, on all
/// ranks, where they cannot take them; the requests are still to be moved then.
bool hand_over(System& system, FileData& file, Requests& requests, std::int64_t records);

/// At its end nothing is left of what a file has copied for I/O ranks and not handed over.
class HandoverGuard {
 public:
  HandoverGuard(Handover* handover, std::int64_t file) : handover_(handover), file_(file) {}
  ~HandoverGuard() {
    if (handover_) handover_->drop(file_);
  }
  HandoverGuard(const HandoverGuard&) = delete;
  HandoverGuard& operator=(const HandoverGuard&) = delete;

 private:
  Handover* handover_;
  std::int64_t file_;
};

}  // namespace slabmark::rearrange
