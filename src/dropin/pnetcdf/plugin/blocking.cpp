// The collective put and get.
#include "dropin/pnetcdf/plugin/families.hpp"

using namespace slabmark::dropin;

#define SLABMARK_MOVE(name, direction, arguments, access, memory)                               \
  const auto native = [&] {                                                                     \
    return SLABMARK_NATIVE(name)(ncid, varid, SLABMARK_UNPACK arguments);                       \
  };                                                                                            \
  return blocking(ncid,                                                                         \
                  {Direction::direction, false, varid, Access{SLABMARK_UNPACK access}, memory}, \
                  std::cref(native));

#define SLABMARK_TYPED(type, c_type, mpi_type, direction, kind, parameters, arguments, access) \
  int ncmpi_##direction##_##kind##_##type##_all(                                               \
      int ncid, int varid,                                                                     \
      SLABMARK_UNPACK parameters SLABMARK_POINTER_##direction(c_type) buffer) {                \
    SLABMARK_MOVE(ncmpi_##direction##_##kind##_##type##_all, direction,                        \
                  (SLABMARK_UNPACK arguments buffer), access, memory_of(buffer, -1, mpi_type)) \
  }

#define SLABMARK_FAMILY(direction, kind, parameters, arguments, access)                          \
  SLABMARK_FOR_EACH_TYPE(SLABMARK_TYPED, direction, kind, parameters, arguments, access)         \
  int ncmpi_##direction##_##kind##_all(                                                          \
      int ncid, int varid, SLABMARK_UNPACK parameters SLABMARK_POINTER_##direction(void) buffer, \
      MPI_Offset count_of_types, MPI_Datatype type) {                                            \
    SLABMARK_MOVE(ncmpi_##direction##_##kind##_all, direction,                                   \
                  (SLABMARK_UNPACK arguments buffer, count_of_types, type), access,              \
                  memory_of(buffer, count_of_types, type))                                       \
  }

extern "C" {
SLABMARK_FOR_EACH_KIND(SLABMARK_FAMILY, put)
SLABMARK_FOR_EACH_KIND(SLABMARK_FAMILY, get)
}
