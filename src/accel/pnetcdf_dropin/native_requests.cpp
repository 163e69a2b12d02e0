#include "accel/pnetcdf_dropin/native_requests.hpp"

#include <iterator>
#include <utility>

#include "accel/pnetcdf_dropin/pending.hpp"
#include "storage/pnetcdf/calls/native.hpp"

namespace slabmark::dropin {

// Without memory to know the variable by, all go the same way.
void NativeRequests::note(int variable) noexcept {
  try {
    if (variable != every_variable) variables_.insert(variable);
    takes_all_ |= variable == every_variable;
  } catch (...) {
    takes_all_ = true;
  }
}

void NativeRequests::take_over(std::unique_ptr<Request> request) noexcept {
  try {
    HandedOver& its = handed_over_[request->id];
    its.error = repost(ncid_, *request, &its.native_id);
    its.request = std::move(request);  // PnetCDF may write from the copy
  } catch (...) {
    lost_ = NC_ENOMEM;
    has_lost_ids_ = true;
  }
}

bool NativeRequests::may_restart_ids() {
  if (!handed_over_.empty()) return false;
  has_lost_ids_ = false;
  return true;
}

bool NativeRequests::knows(int id) const {
  return id < PendingRequests::first_id || handed_over_.contains(id);
}

int NativeRequests::wait_all(int count, int* ids, int* statuses) {
  const auto native = [&](int* native_ids) {
    return SLABMARK_NATIVE(ncmpi_wait_all)(ncid_, count, native_ids, statuses);
  };
  return with_native_ids(count, ids, native);
}

int NativeRequests::with_native_ids(int count, int* ids, FunctionRef<int(int*)> call) {
  const int lost = std::exchange(lost_, NC_NOERR);
  const int refused = ids ? replace_ids(count, ids) : NC_NOERR;
  const int error = call(ids);
  restore_ids(ids);
  forget_if_done();
  if (lost != NC_NOERR) return lost;
  return error == NC_NOERR ? refused : error;
}

/// Returns the code with which PnetCDF refused the first of them that it did.
int NativeRequests::replace_ids(int count, int* ids) {
  int refused = NC_NOERR;
  for (int i = 0; i < count; ++i) {
    const auto found = handed_over_.find(ids[i]);
    if (found == handed_over_.end()) {
      // PnetCDF would refuse the call for it, in which other ranks wait for this one.
      if (has_lost_ids_ && ids[i] >= PendingRequests::first_id) ids[i] = NC_REQ_NULL;
      continue;
    }
    HandedOver& its = found->second;
    its.place = i;
    ids[i] = its.native_id;
    if (refused == NC_NOERR) refused = its.error;
  }
  return refused;
}

void NativeRequests::restore_ids(int* ids) {
  for (auto its = handed_over_.begin(); its != handed_over_.end();) {
    const int place = std::exchange(its->second.place, -1);
    const bool is_done = place >= 0 && ids[place] == NC_REQ_NULL;
    if (place >= 0 && !is_done) ids[place] = its->first;
    its = is_done ? handed_over_.erase(its) : std::next(its);
  }
}

void NativeRequests::forget_if_done() {
  int left = 0;
  SLABMARK_NATIVE(ncmpi_inq_nreqs)(ncid_, &left);
  if (left > 0) return;
  takes_all_ = false;
  variables_.clear();
  handed_over_.clear();  // until now PnetCDF may have needed their memory
}

}  // namespace slabmark::dropin
