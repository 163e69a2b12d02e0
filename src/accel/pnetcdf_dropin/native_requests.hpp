#pragma once

#include <map>
#include <memory>
#include <set>

#include "accel/pnetcdf_dropin/request.hpp"
#include "core/base/function_ref.hpp"

namespace slabmark::dropin {

inline constexpr int every_variable = -1;

/// The requests of a file that PnetCDF has: those that it got at once, and those that were handed
/// over to it, which the program knows by our ids.
class NativeRequests {
 public:
  explicit NativeRequests(int ncid) : ncid_(ncid) {}

  /// PnetCDF has requests that all others must go with.
  bool takes_all() const { return takes_all_; }
  /// PnetCDF has puts of some variables, which a wait makes before those by plan, and nothing else.
  bool has_puts_alone() const { return !takes_all_ && !variables_.empty(); }
  bool has_puts_of(int variable) const { return variables_.contains(variable); }

  /// PnetCDF has a put of a variable, or requests that all others must go with (every_variable).
  void note(int variable) noexcept;
  /// Posts the request in PnetCDF. Where memory is short for it, it is lost, and the next call with
  /// ids says so: other ranks may be in a collective call already, so nothing is thrown.
  void take_over(std::unique_ptr<Request> request) noexcept;

  /// True if no id of ours is in use here.
  bool may_restart_ids();
  /// True if an id belongs to PnetCDF, or PnetCDF must judge it. The id must not be one of the
  /// drop-in's pending ids.
  bool knows(int id) const;

  /// Makes a call of PnetCDF's own with the ids by which it knows requests that were handed over.
  int with_native_ids(int count, int* ids, FunctionRef<int(int*)> call);
  /// Collective: PnetCDF's own wait, for ids that it knows.
  int wait_all(int count, int* ids, int* statuses);

 private:
  int replace_ids(int count, int* ids);
  void restore_ids(int* ids);
  void forget_if_done();

  struct HandedOver {
    int native_id = NC_REQ_NULL;
    int error = NC_ENOMEM;  ///< of PnetCDF, if it refused
    std::unique_ptr<Request> request;
    int place = -1;  ///< among the ids of the call at hand
  };

  int ncid_;
  std::map<int, HandedOver> handed_over_;  ///< by our id
  bool takes_all_ = false;
  std::set<int> variables_;
  int lost_ = NC_NOERR;  ///< a request was, which no call has said yet
  bool has_lost_ids_ = false;
};

}  // namespace slabmark::dropin
