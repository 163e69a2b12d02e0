#include "parallel/watched_writes.hpp"

#include <dlfcn.h>

#include <fmt/format.h>
#include <mpi.h>

#include "parallel/abort.hpp"
#include "parallel/comm.hpp"

namespace slabmark {

void watch_writes() {}

namespace {

// A tool's function, such as a profiler's that is preloaded, or MPI's own.
template <class Function>
Function next(const char* name, Function of_mpi) {
  const auto found = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
  return found == nullptr ? of_mpi : found;
}

int watched(const char* call, int code) {
  if (code == MPI_SUCCESS) return code;
  end_soon(
      fmt::format("{} failed: {}, and other ranks wait for what this one did not do; check space, "
                  "quota and file size limit (ulimit -f) of the directory.",
                  call, mpi_error_text(code)));
  return code;
}

}  // namespace

}  // namespace slabmark

extern "C" {

int MPI_File_write_at_all(MPI_File file, MPI_Offset offset, const void* data, int count,
                          MPI_Datatype type, MPI_Status* status) {
  static const auto write = slabmark::next("MPI_File_write_at_all", PMPI_File_write_at_all);
  return slabmark::watched("MPI_File_write_at_all", write(file, offset, data, count, type, status));
}

int MPI_File_write_at(MPI_File file, MPI_Offset offset, const void* data, int count,
                      MPI_Datatype type, MPI_Status* status) {
  static const auto write = slabmark::next("MPI_File_write_at", PMPI_File_write_at);
  return slabmark::watched("MPI_File_write_at", write(file, offset, data, count, type, status));
}

int MPI_File_set_size(MPI_File file, MPI_Offset size) {
  static const auto set_size = slabmark::next("MPI_File_set_size", PMPI_File_set_size);
  return slabmark::watched("MPI_File_set_size", set_size(file, size));
}

int MPI_File_sync(MPI_File file) {
  static const auto sync = slabmark::next("MPI_File_sync", PMPI_File_sync);
  return slabmark::watched("MPI_File_sync", sync(file));
}

}  // extern "C"
