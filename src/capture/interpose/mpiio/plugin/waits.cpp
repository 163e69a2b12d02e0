// MPI's calls that wait for requests: those of nonblocking reads and writes of files end there. A
// program that has none of these waits as without us.
#include "capture/interpose/mpiio/open_file.hpp"
#include "capture/interpose/world/world.hpp"

using namespace slabmark::capture;

namespace {

/// Waits by `wait` for `count` requests.
template <class Wait>
int waited(const char* name, int count, MPI_Request* requests, const Wait& wait) {
  if (!has_requests()) return wait();
  const Call call;
  Waiting waiting(call, count, requests);
  const int error = wait();
  waiting.done(name, requests);
  return error;
}

}  // namespace

#define SLABMARK_WAIT(name, count, requests, parameters, arguments)          \
  int name parameters {                                                      \
    static const auto native = next(#name, P##name);                         \
    return waited(#name, count, requests, [&] { return native arguments; }); \
  }

extern "C" {

SLABMARK_WAIT(MPI_Wait, 1, request, (MPI_Request * request, MPI_Status* status), (request, status))
SLABMARK_WAIT(MPI_Test, 1, request, (MPI_Request * request, int* flag, MPI_Status* status),
              (request, flag, status))
SLABMARK_WAIT(MPI_Waitall, count, requests,
              (int count, MPI_Request requests[], MPI_Status statuses[]),
              (count, requests, statuses))
SLABMARK_WAIT(MPI_Testall, count, requests,
              (int count, MPI_Request requests[], int* flag, MPI_Status statuses[]),
              (count, requests, flag, statuses))
SLABMARK_WAIT(MPI_Waitany, count, requests,
              (int count, MPI_Request requests[], int* index, MPI_Status* status),
              (count, requests, index, status))
SLABMARK_WAIT(MPI_Testany, count, requests,
              (int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status),
              (count, requests, index, flag, status))
SLABMARK_WAIT(MPI_Waitsome, count, requests,
              (int count, MPI_Request requests[], int* ended, int indices[], MPI_Status statuses[]),
              (count, requests, ended, indices, statuses))
SLABMARK_WAIT(MPI_Testsome, count, requests,
              (int count, MPI_Request requests[], int* ended, int indices[], MPI_Status statuses[]),
              (count, requests, ended, indices, statuses))
// A rank that gives a request up waits for its elements no more; its number may be that of another
// one next.
SLABMARK_WAIT(MPI_Request_free, 1, request, (MPI_Request * request), (request))

}  // extern "C"
