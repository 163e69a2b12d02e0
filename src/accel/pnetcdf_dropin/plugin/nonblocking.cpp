// iput, bput and iget.
#include "accel/pnetcdf_dropin/families.hpp"

using namespace slabmark::dropin;

#define SLABMARK_POST(name, direction, buffered, arguments, access, memory)                      \
  const auto native = [&](int* native_id) {                                                      \
    return SLABMARK_NATIVE(name)(ncid, varid, SLABMARK_UNPACK arguments, native_id);             \
  };                                                                                             \
  return nonblocking(                                                                            \
      ncid, {Direction::direction, buffered, varid, Access{SLABMARK_UNPACK access}, memory}, id, \
      std::cref(native));

#define SLABMARK_TYPED(type, c_type, mpi_type, verb, direction, buffered, kind, parameters,        \
                       arguments, access)                                                          \
  int ncmpi_##verb##_##kind##_##type(                                                              \
      int ncid, int varid, SLABMARK_UNPACK parameters SLABMARK_POINTER_##direction(c_type) buffer, \
      int* id) {                                                                                   \
    SLABMARK_POST(ncmpi_##verb##_##kind##_##type, direction, buffered,                             \
                  (SLABMARK_UNPACK arguments buffer), access, memory_of(buffer, -1, mpi_type))     \
  }

#define SLABMARK_FAMILY(verb, direction, buffered, kind, parameters, arguments, access)           \
  SLABMARK_FOR_EACH_TYPE(SLABMARK_TYPED, verb, direction, buffered, kind, parameters, arguments,  \
                         access)                                                                  \
  int ncmpi_##verb##_##kind(int ncid, int varid,                                                  \
                            SLABMARK_UNPACK parameters SLABMARK_POINTER_##direction(void) buffer, \
                            MPI_Offset count_of_types, MPI_Datatype type, int* id) {              \
    SLABMARK_POST(ncmpi_##verb##_##kind, direction, buffered,                                     \
                  (SLABMARK_UNPACK arguments buffer, count_of_types, type), access,               \
                  memory_of(buffer, count_of_types, type))                                        \
  }

extern "C" {
SLABMARK_FOR_EACH_KIND(SLABMARK_FAMILY, iput, put, false)
SLABMARK_FOR_EACH_KIND(SLABMARK_FAMILY, bput, put, true)
SLABMARK_FOR_EACH_KIND(SLABMARK_FAMILY, iget, get, false)
}
