#pragma once

#include <memory>
#include <new>

#include "accel/c_library/api/rearrange_format.h"

// Shared by the formats that are written in C++. They are libraries of their own, which know the
// core by its C header alone.

namespace slabmark::rearrange {

/// The code that `step` returns, also where it runs out of memory: what calls it is C.
template <class Step>
int guarded(const Step& step) {
  try {
    return step();
  } catch (const std::bad_alloc&) {
    return slabmark_fail(SLABMARK_ENOMEM, "Memory is exhausted.");
  }
}

inline bool is_root(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank == 0;
}

/// Collective: opens a file of a format, whose close() takes `file` over.
template <class File>
int open_format(int system, const char* path, int mode, MPI_Info info, std::unique_ptr<File> its,
                int* file) {
  const slabmark_format format = its->format();
  return slabmark_open_format(system, path, mode, info, &format, its.release(), file);
}

}  // namespace slabmark::rearrange
