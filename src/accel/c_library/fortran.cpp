// Functions that the Fortran module calls where C's own do not fit: communicators and hints are
// numbers there, elements of an array count from 1, and a buffer has a type, and may be scattered.

#include "accel/c_library/api/rearrange_format.h"
#include "accel/c_library/calls.hpp"

extern "C" {

int slabmark_fortran_init(MPI_Fint comm, int* system) {
  return slabmark_init(MPI_Comm_f2c(comm), system);
}

int slabmark_fortran_init_io(MPI_Fint comm, int io_ranks, MPI_Fint* program_comm, int* system) {
  MPI_Comm own = MPI_COMM_NULL;
  const int code = slabmark_init_io(MPI_Comm_f2c(comm), io_ranks, &own, system);
  *program_comm = MPI_Comm_c2f(own);
  return code;
}

int slabmark_fortran_open_raw(int system, const char* path, int mode, MPI_Fint info, int* file) {
  return slabmark_open_raw(system, path, mode, MPI_Info_f2c(info), file);
}

int slabmark_fortran_create_defined(int definition, const char* path, MPI_Fint info) {
  return slabmark_create_defined(definition, path, MPI_Info_f2c(info));
}

int slabmark_fortran_init_decomp(int system, slabmark_type type, int ndims, const int64_t* extents,
                                 int64_t count, const int64_t* offsets, int* decomp) {
  return slabmark::rearrange::init_decomp(system, type, ndims, extents,
                                          {count, offsets, false, 0, nullptr, 1}, decomp);
}

int slabmark_fortran_init_decomp_runs(int system, slabmark_type type, int ndims,
                                      const int64_t* extents, int64_t runs, const int64_t* starts,
                                      int64_t count_of_lengths, const int64_t* lengths,
                                      int* decomp) {
  return slabmark::rearrange::init_decomp(
      system, type, ndims, extents, {runs, starts, true, count_of_lengths, lengths, 1}, decomp);
}

/// The verbs are numbered in the module; a negative one: the buffer is scattered.
int slabmark_fortran_move(int verb, int file, int variable, int decomp, slabmark_type type,
                          int64_t count, void* data, const void* fill) {
  using slabmark::rearrange::Verb;
  if (verb < 0) return slabmark::rearrange::refuse_scattered(file);
  constexpr Verb verbs[] = {Verb::write, Verb::read, Verb::iput, Verb::iget};
  return slabmark::rearrange::move(verbs[verb], file, variable, {decomp, count, data, fill, type});
}
}
