#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <mpi.h>

#include "accel/pnetcdf_dropin/data_file.hpp"
#include "accel/pnetcdf_dropin/native_requests.hpp"
#include "accel/pnetcdf_dropin/pending.hpp"
#include "accel/pnetcdf_dropin/rank_group.hpp"
#include "accel/pnetcdf_dropin/report.hpp"
#include "accel/pnetcdf_dropin/request.hpp"
#include "collective/locator/netcdf_locator.hpp"
#include "core/base/function_ref.hpp"

namespace slabmark::dropin {

/// A file that the program has open, whose calls are taken.
class NetcdfFile {
 public:
  enum class Mode { define, collective, independent };

  struct Opening {
    int ncid;
    std::string name;  ///< the program's
    DataFile::Opening data;
    bool created, reports;
    RearrangerSettings settings;
    std::uint64_t alignment;  ///< of aggregators' ranges
    CopyPolicy copies;
    collective::Overlap overlap;
  };

  NetcdfFile(std::shared_ptr<RankGroup> group, Opening opening);

  RankGroup& group() { return *group_; }
  const std::shared_ptr<RankGroup>& shared_group() const { return group_; }
  const std::string& name() const { return opening_.name; }
  Mode mode() const { return mode_; }
  void enter(Mode mode);

  collective::NetcdfLocator& locator() { return locator_; }
  PendingRequests& pending() { return pending_; }
  NativeRequests& native() { return native_; }
  DataFile& data() { return data_; }  ///< for one that is in use
  Report& report() { return report_; }

  // Requests.

  AcceptResult accept(const Call& call) {
    return dropin::accept(call, locator_, group_->geometries, opening_.data.writable);
  }
  /// Keeps a request and returns its id.
  int post(std::unique_ptr<Request> request);
  /// Makes a nonblocking call of PnetCDF's own. If that leaves a request there, those pending here
  /// go to PnetCDF before it, so that their order stays; `alone`: the puts of its variable only.
  int pass_through(const Call& call, bool alone, int* id, FunctionRef<int(int*)> native);
  /// Hands pending requests to PnetCDF, all or the puts of a variable.
  void hand_over(int puts_of = every_variable) noexcept;
  /// True if the attached buffer, which is PnetCDF's, has room for one more bput.
  bool has_buffer_for(const Request& request) const;
  /// Some rank has changed the memory of a pending put of a variable: from now on all puts are
  /// copied. Rank 0 says so, once.
  void copy_from_now_on(int variable);

  // Collective transfers.

  ArrayPlace place_of(ArrayName array);
  std::uint64_t alignment() const { return opening_.alignment; }
  /// True if this rank can do its part of a plan, as far as the file goes.
  bool is_prepared() const;
  /// Has this rank open the file if it is to aggregate. False where that cannot be done, or before
  /// prepare() where it is not known who aggregates.
  bool prepare_here();
  /// Collective: the same on all ranks. False where it cannot be done on some rank.
  bool prepare();
  /// Collective, to be called before PnetCDF reads or writes data of the file: waits until pending
  /// writes are in it. Returns, on all ranks, the code of one that failed.
  int settle();
  int sync();
  int close();
  /// Collective: lets the file have the records that this wait writes. One rank brings a request
  /// that ends with the last of them, the others null. Returns PnetCDF's error code.
  int grow(const Request* last);

  /// Bytes that were moved beside those that PnetCDF counts. As there, an element that a rank names
  /// twice in a wait counts once.
  MPI_Offset put_bytes() const { return static_cast<MPI_Offset>(put_bytes_ - counted_twice_); }
  MPI_Offset got_bytes() const { return static_cast<MPI_Offset>(got_bytes_); }
  void count_moved(bool puts, std::uint64_t bytes) { (puts ? put_bytes_ : got_bytes_) += bytes; }

 private:
  std::shared_ptr<RankGroup> group_;
  Opening opening_;
  Mode mode_;
  collective::NetcdfLocator locator_;
  PendingRequests pending_;
  NativeRequests native_;
  DataFile data_;
  bool no_data_file_ = false;
  std::uint64_t put_bytes_ = 0, got_bytes_ = 0;  ///< by plan
  std::uint64_t counted_twice_ = 0;              ///< bytes put by plan and by grow()
  Report report_;
};

}  // namespace slabmark::dropin
