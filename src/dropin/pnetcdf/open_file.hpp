#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <mpi.h>
#include <pnetcdf.h>

#include "dropin/pnetcdf/call.hpp"
#include "dropin/pnetcdf/data_file.hpp"
#include "dropin/pnetcdf/engine.hpp"
#include "dropin/pnetcdf/geometry.hpp"
#include "dropin/pnetcdf/memory.hpp"
#include "dropin/pnetcdf/plan.hpp"
#include "dropin/pnetcdf/report.hpp"

namespace slabmark::dropin {

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
  };
  Taken take(const Call& call);
  /// More pieces than these a call does not ask for.
  std::uint64_t most_pieces(const Call& call);

  /// Keeps a request and returns its id.
  int post(std::unique_ptr<Request> request);
  /// Makes a nonblocking call of PnetCDF's own. If that leaves a request there, those pending here
  /// go to PnetCDF before it, so that their order stays.
  int post_natively(bool buffered, int* id, const std::function<int(int*)>& call);
  /// Hands all pending requests to PnetCDF. Where memory is short for one it is lost, and the next
  /// wait says so: other ranks may be in a collective call already, so nothing is thrown.
  void hand_over() noexcept;

  bool has_pending() const { return !pending_.empty(); }
  bool has_native_pending() const { return native_pending_; }
  int count_pending() const { return static_cast<int>(pending_.size()); }
  /// What pending bputs take of the attached buffer. As in PnetCDF, what one leaves between two
  /// others is not free before the later one is done.
  std::uint64_t buffered_bytes() const;
  bool has_buffer_for(const Request& request) const;
  /// Bytes of the copies that pending requests have.
  std::uint64_t held_bytes() const { return held_bytes_; }

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

  /// Bytes that were put beside those that PnetCDF counts.
  MPI_Offset put_bytes() const {
    return static_cast<MPI_Offset>(report_.put_bytes) - static_cast<MPI_Offset>(counted_twice_);
  }

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
  void drop_done();

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
  int lost_ = NC_NOERR;  ///< a request was, which no wait has said yet
  int next_id_ = 0;
  std::uint64_t held_bytes_ = 0;
  struct Buffered {
    int id;
    std::uint64_t bytes;
  };
  std::vector<Buffered> buffered_;  ///< in the order of the calls, the last one pending

  DataFile data_;
  bool no_data_file_ = false;

  std::uint64_t counted_twice_ = 0;  ///< bytes put by plan and by grow()

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
