#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <mpi.h>
#include <pnetcdf.h>

#include "accel/pnetcdf_dropin/call.hpp"
#include "accel/pnetcdf_dropin/data_file.hpp"
#include "accel/pnetcdf_dropin/engine.hpp"
#include "accel/pnetcdf_dropin/geometry.hpp"
#include "accel/pnetcdf_dropin/memory.hpp"
#include "accel/pnetcdf_dropin/plan.hpp"
#include "accel/pnetcdf_dropin/report.hpp"

namespace slabmark::dropin {

/// Which puts are copied when they are posted, of those that are moved as they stand in memory.
enum class CopyPolicy {
  never,
  overlap,  ///< small ones, and from the first on whose memory another pending request has, all
  always
};

/// A request that was taken and is pending, or part of a blocking call.
struct Request {
  int id = NC_REQ_NULL;
  Direction direction = Direction::put;
  bool buffered = false;  ///< of a bput
  int variable = 0;
  GeometryPtr geometry;
  std::uint64_t first_record = 0, end_record = 0;
  std::optional<UserMemory> memory;
  nc_type type = NC_CHAR;               ///< of the variable
  std::unique_ptr<std::byte[]> packed;  ///< null where elements move from or to the caller's memory
  std::uint64_t sample = 0;             ///< of the caller's memory, where a put moves from there

  /// Whether one of NC_REQ_ALL, NC_GET_REQ_ALL and NC_PUT_REQ_ALL means it.
  bool is_of(int kind) const {
    return kind == NC_REQ_ALL || (kind == NC_PUT_REQ_ALL) == (direction == Direction::put);
  }
  std::uint64_t bytes() const { return geometry->elements() * size_of(type); }
  Posted posted() const {
    return {variable, geometry, first_record, packed ? packed.get() : memory->address()};
  }
};

/// A file that the program has open, whose data are taken.
class OpenFile {
 public:
  enum class Mode { define, collective, independent };

  struct Opening {
    int ncid;
    std::string path;   ///< as the program names it
    std::string place;  ///< the same wherever the program goes
    std::optional<FileIdentity> identity;
    bool writable, created, reports;
    RearrangerSettings settings;
    std::uint64_t alignment;  ///< of aggregators' ranges
    CopyPolicy copies;
  };

  OpenFile(std::shared_ptr<Engine> engine, Opening opening);

  Engine& engine() { return *engine_; }
  const std::shared_ptr<Engine>& shared_engine() const { return engine_; }
  Mode mode() const { return mode_; }
  void enter(Mode mode);

  // Requests.

  struct Taken {
    bool taken = false;                ///< else PnetCDF judges the call
    std::unique_ptr<Request> request;  ///< null for no elements
    /// Not taken since a value does not fit into the variable. Not of a bput, since only PnetCDF
    /// knows when which part of its buffer is free again.
    bool out_of_range = false;
  };
  Taken take(const Call& call);
  /// More pieces than these a call does not ask for.
  std::uint64_t most_pieces(const Call& call);

  /// Keeps a request and returns its id.
  int post(std::unique_ptr<Request> request);
  /// Makes a nonblocking call of PnetCDF's own. If that leaves a request there, those pending here
  /// go to PnetCDF before it, so that their order stays; `alone`: the puts of its variable only.
  int post_natively(const Call& call, bool alone, int* id, const std::function<int(int*)>& native);
  /// Hands pending requests to PnetCDF, all or the puts of a variable. Where memory is short for
  /// one it is lost, and the next wait says so: other ranks may be in a collective call already, so
  /// nothing is thrown.
  static constexpr int every_variable = -1;
  void hand_over(int puts_of = every_variable) noexcept;

  bool has_pending() const { return !pending_.empty(); }
  /// PnetCDF has requests with which all others must go.
  bool has_native_pending() const { return native_pending_; }
  /// PnetCDF has puts of these variables, which a wait makes before those by plan, and nothing
  /// else.
  bool has_native_puts() const { return !native_pending_ && !native_variables_.empty(); }
  bool has_native_puts_of(int variable) const { return native_variables_.contains(variable); }
  /// Whether an id that is no pending one here is PnetCDF's, or for it to judge.
  bool is_with_pnetcdf(int id) const;
  /// Collective: PnetCDF's own wait, for ids that is_with_pnetcdf().
  int wait_natively(int count, int* ids, int* statuses);
  int count_pending() const { return static_cast<int>(pending_.size()); }
  /// What pending bputs take of the attached buffer. As in PnetCDF, what one leaves between two
  /// others is not free before the later one is done.
  std::uint64_t buffered_bytes() const;
  bool has_buffer_for(const Request& request) const;
  /// Bytes of the copies that pending requests have.
  std::uint64_t held_bytes() const { return held_bytes_; }
  /// Looks whether the memory of these puts is as it was posted, where it was not copied.
  void check_memory(const std::vector<Request*>& puts);
  /// A variable of whose pending puts the memory was changed; none_changed where that was not seen.
  int changed_variable() const { return changed_variable_; }
  static constexpr int none_changed = -1;
  /// Some rank has changed such memory: from now on all puts are copied. Rank 0 says so, once.
  void copy_from_now_on(int variable);

  /// Pending requests of a kind, see Request::is_of().
  std::vector<Request*> pending_of(int kind) const;
  Request* pending(int id) const;
  void drop(const std::vector<Request*>& requests);
  /// Those that a call names by ids, or by a kind in place of their number, without any memory.
  void drop(int count, const int* ids);

  /// Makes a call of PnetCDF's own with the ids by which it knows requests that were handed over.
  int with_native_ids(int count, int* ids, const std::function<int(int*)>& call);

  // What collective transfers ask for.

  ArrayPlace place_of(ArrayName array);
  std::uint64_t padding();
  /// Whether this rank can do its part of a plan, as far as the file goes.
  bool is_prepared() const;
  /// Has this rank open the file if it is to aggregate. False where that cannot be done, or before
  /// prepare() where it is not known who aggregates.
  bool prepare_here();
  /// Collective: the same on all ranks. False where it cannot be done on some rank.
  bool prepare();
  std::uint64_t alignment() const { return opening_.alignment; }
  DataFile& data() { return data_; }  ///< for one that is in use
  int sync();
  int close();
  /// Collective: lets the file have the records that this wait writes. One rank brings a request
  /// that ends with the last of them, the others null. Returns PnetCDF's error code.
  int grow(const Request* last);
  std::uint64_t records();

  /// Bytes that were moved beside those that PnetCDF counts; as there, an element that a rank names
  /// twice in a wait counts once.
  MPI_Offset put_bytes() const {
    return static_cast<MPI_Offset>(put_bytes_) - static_cast<MPI_Offset>(counted_twice_);
  }
  MPI_Offset got_bytes() const { return static_cast<MPI_Offset>(got_bytes_); }
  void count_moved(bool puts, std::uint64_t bytes) { (puts ? put_bytes_ : got_bytes_) += bytes; }

  Report& report() { return report_; }
  const std::string& path() const { return opening_.path; }

 private:
  struct Variable {
    std::optional<nc_type> type;
    Shape shape;
    std::uint64_t offset = 0;
  };
  const Shape* shape(int id);
  MPI_Offset length_of(int dimension);
  const Variable* variable(int id);
  void know_header();
  int repost(const Request& request, int* id);
  void keep_apart(Request& request);
  void copy(Request& request);
  void mark_native(int variable) noexcept;
  void drop_done();
  void release(const Request& request);
  void free_buffered();

  std::shared_ptr<Engine> engine_;
  Opening opening_;
  Mode mode_;

  // Of the header, as long as it stays as it is.
  std::vector<std::optional<Shape>> shapes_;
  std::vector<std::optional<Variable>> variables_;
  std::map<int, MPI_Offset> lengths_;  ///< of dimensions
  int unlimited_dimension_ = -1;
  std::uint64_t record_size_ = 0;
  bool header_known_ = false;

  std::vector<std::unique_ptr<Request>> pending_;
  struct HandedOver {
    int native_id = NC_REQ_NULL;
    int error = NC_ENOMEM;  ///< of PnetCDF, if it refused
    std::unique_ptr<Request> request;
    int place = -1;  ///< among the ids of the call at hand
  };
  std::map<int, HandedOver> handed_over_;  ///< by our id
  bool native_pending_ = false;
  std::set<int> native_variables_;
  int lost_ = NC_NOERR;  ///< a request was, which no wait has said yet
  bool has_lost_ids_ = false;
  int next_id_ = 0;
  std::uint64_t held_bytes_ = 0;
  /// Pending puts that are moved from the program's memory, by where that begins, where others must
  /// not have it, too.
  std::map<const std::byte*, Request*> in_place_;
  int changed_variable_ = none_changed;
  struct Buffered {
    int id;
    std::uint64_t bytes;
  };
  std::vector<Buffered> buffered_;  ///< in the order of the calls, the last one pending

  DataFile data_;
  bool no_data_file_ = false;

  std::uint64_t put_bytes_ = 0, got_bytes_ = 0;  ///< by plan
  std::uint64_t counted_twice_ = 0;              ///< bytes put by plan and by grow()

  Report report_;
};

/// The file of an id; null where there is none, or where it is left to PnetCDF altogether.
OpenFile* open_file(int ncid);
/// Collective over `comm`, whatever `error` PnetCDF's call returned: makes the file known unless it
/// is to be left to PnetCDF.
void opened(MPI_Comm comm, const char* path, MPI_Info info, int mode, bool created, int error,
            const int* ncid);
void forget(int ncid);
void forget_open_files();

}  // namespace slabmark::dropin
