#include "core/parallel/watched_writes.hpp"

#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <string>
#include <unistd.h>

#include <fmt/format.h>
#include <mpi.h>

#include "core/parallel/abort.hpp"
#include "core/parallel/comm.hpp"

namespace slabmark {

void watch_writes() {}

namespace {

// A tool's function, such as a profiler's that is preloaded, or the original. In a library, which
// shows no such name, the tool may stand before it or behind it.
template <class Function>
Function other_than(Function own, const char* name, Function of_mpi = nullptr) {
  auto found = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
  if (found == own) found = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
  return found == nullptr ? of_mpi : found;
}

void end_soon_after(const char* call, const std::string& reason) {
  end_soon(
      fmt::format("{} failed: {}, and other ranks wait for what this one did not do; check space, "
                  "quota and file size limit (ulimit -f) of the directory.",
                  call, reason));
}

int watched(const char* call, int code) {
  if (code != MPI_SUCCESS) end_soon_after(call, mpi_error_text(code));
  return code;
}

// Of a file: what writes to sockets and pipes fails otherwise.
bool is_lack_of_room(int error) {
  return error == ENOSPC || error == EDQUOT || error == EFBIG || error == EIO;
}

thread_local int collective_writes = 0;  // that this thread is in

}  // namespace

}  // namespace slabmark

extern "C" {

int MPI_File_write_at_all(MPI_File file, MPI_Offset offset, const void* data, int count,
                          MPI_Datatype type, MPI_Status* status) {
  static const auto write = slabmark::other_than(&MPI_File_write_at_all, "MPI_File_write_at_all",
                                                 &PMPI_File_write_at_all);
  ++slabmark::collective_writes;
  const int code = write(file, offset, data, count, type, status);
  --slabmark::collective_writes;
  return slabmark::watched("MPI_File_write_at_all", code);
}

ssize_t pwrite(int file, const void* data, size_t bytes, off_t offset) {
  static const auto write = slabmark::other_than(&pwrite, "pwrite");
  const ssize_t written = write(file, data, bytes, offset);
  if (written < 0 && slabmark::collective_writes > 0 && slabmark::is_lack_of_room(errno)) {
    const int error = errno;
    slabmark::end_soon_after("pwrite within MPI_File_write_at_all", std::strerror(error));
    errno = error;
  }
  return written;
}

int MPI_File_write_at(MPI_File file, MPI_Offset offset, const void* data, int count,
                      MPI_Datatype type, MPI_Status* status) {
  static const auto write =
      slabmark::other_than(&MPI_File_write_at, "MPI_File_write_at", &PMPI_File_write_at);
  return slabmark::watched("MPI_File_write_at", write(file, offset, data, count, type, status));
}

int MPI_File_set_size(MPI_File file, MPI_Offset size) {
  static const auto set_size =
      slabmark::other_than(&MPI_File_set_size, "MPI_File_set_size", &PMPI_File_set_size);
  return slabmark::watched("MPI_File_set_size", set_size(file, size));
}

int MPI_File_sync(MPI_File file) {
  static const auto sync = slabmark::other_than(&MPI_File_sync, "MPI_File_sync", &PMPI_File_sync);
  return slabmark::watched("MPI_File_sync", sync(file));
}

}  // extern "C"
