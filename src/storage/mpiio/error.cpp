#include "storage/mpiio/error.hpp"

#include <string_view>

#include <fmt/format.h>
#include <mpi.h>

#include "core/parallel/comm.hpp"

namespace slabmark::mpiio {

namespace {

std::string_view remedy(int error_class) {
  switch (error_class) {
    case MPI_ERR_ACCESS:
    case MPI_ERR_READ_ONLY:
      return "check the permissions of the file and of its directory";
    case MPI_ERR_FILE_EXISTS:
      return "remove it or choose another name";
    case MPI_ERR_NO_SPACE:
      return "free some space there or choose another directory";
    case MPI_ERR_NO_SUCH_FILE:
    case MPI_ERR_BAD_FILE:
      return "check the name and make the directory first";
    case MPI_ERR_QUOTA:
      return "free some of your quota or choose another directory";
    default:
      return "check space, quota and file size limit (ulimit -f) of that directory";
  }
}

}  // namespace

void check(int code, const char* call, const std::string& path) {
  if (code == MPI_SUCCESS) return;
  int error_class = MPI_ERR_OTHER;
  MPI_Error_class(code, &error_class);
  throw Failure(error_class, fmt::format("{} failed on '{}': {}; {}.", call, path,
                                         mpi_error_text(code), remedy(error_class)));
}

}  // namespace slabmark::mpiio
