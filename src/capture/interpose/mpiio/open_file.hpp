#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include <mpi.h>

#include "capture/interpose/mpiio/view.hpp"
#include "capture/record/definitions.hpp"
#include "capture/record/recorder.hpp"

namespace slabmark::capture {

/// A file that the program has open.
struct OpenFile {
  Id opening = no_id;
  View view;
  std::string view_problem;       ///< why what is behind the view cannot be said; empty: it can
  MPI_Comm comm = MPI_COMM_NULL;  ///< of our own, of its ranks; made when it is needed
};

/// Null where the program opened it before capture began, or it is not captured.
OpenFile* find_file(MPI_File file);

/// "key": "value" of all that is in it.
Json hints_of(MPI_Info info);

void opened(const Call& call, MPI_Comm comm, const char* path, int mode, MPI_Info info, int error,
            MPI_File file);
void closed(const Call& call, MPI_File file, int error);
void view_set(const Call& call, MPI_File file, MPI_Offset displacement, MPI_Datatype etype,
              MPI_Datatype filetype, const char* representation, int error);
/// Any other call on a file; `arguments` are numbers.
void called(const Call& call, const char* name, const char* effect, MPI_File file, int error,
            std::initializer_list<std::int64_t> arguments = {}, Id details = no_id);

/// How a call says where in the view it begins.
enum class Pointer { explicitly, individual, shared, ordered };

/// A call that moves elements. Made before MPI's own, which may move the file's pointers; lives
/// until that has returned.
class Transfer {
 public:
  /// `offset`: in etypes, of Pointer::explicitly.
  Transfer(const Call& call, MPI_File file, Pointer pointer, MPI_Offset offset, MPI_Count count,
           MPI_Datatype type);
  ~Transfer();
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  /// Records it. `request`: what a nonblocking call made, else null.
  void done(const char* name, unsigned flags, int error, const MPI_Request* request);

 private:
  void record_it(const char* name, unsigned flags, int error, const MPI_Request* request);
  std::optional<MPI_Offset> find_offset(MPI_File file, Pointer pointer, MPI_Offset offset,
                                        MPI_Offset etypes);

  OpenFile* file_ = nullptr;  ///< null: nothing is recorded
  Pointer pointer_;
  std::optional<MPI_Offset> offset_;  ///< in etypes of the view
  TypeMap memory_;
  std::int64_t count_ = 0;
  bool is_apart_ = false;
  int lock_ = -1;  ///< while the shared pointer is ours
};

/// Requests of nonblocking calls that the program has not waited for.
bool has_requests();

/// The requests among these that are ours, before and after MPI waits for them.
class Waiting {
 public:
  Waiting(const Call& call, int count, const MPI_Request* requests);
  /// Records those that MPI has taken out of `requests` by now.
  void done(const char* name, const MPI_Request* requests);

 private:
  std::vector<std::pair<int, MPI_Request>> ours_;
};

}  // namespace slabmark::capture
