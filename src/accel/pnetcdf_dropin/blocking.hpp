#pragma once

#include "accel/pnetcdf_dropin/families.hpp"

// The functions that put and get one part of a variable at once. SLABMARK_BLOCKING(suffix, take,
// direction, ...) makes a family of them: `suffix` is _all for the collective ones or nothing,
// `take` the function that each call goes to.

#define SLABMARK_MOVE(name, take, direction, arguments, access, memory)                           \
  const auto native = [&] {                                                                       \
    return SLABMARK_NATIVE(name)(ncid, varid, SLABMARK_UNPACK arguments);                         \
  };                                                                                              \
  return take(ncid, {Direction::direction, false, varid, Access{SLABMARK_UNPACK access}, memory}, \
              std::cref(native));

#define SLABMARK_TYPED(type, c_type, mpi_type, suffix, take, direction, kind, parameters,      \
                       arguments, access)                                                      \
  int ncmpi_##direction##_##kind##_##type##suffix(                                             \
      int ncid, int varid,                                                                     \
      SLABMARK_UNPACK parameters SLABMARK_POINTER_##direction(c_type) buffer) {                \
    SLABMARK_MOVE(ncmpi_##direction##_##kind##_##type##suffix, take, direction,                \
                  (SLABMARK_UNPACK arguments buffer), access, memory_of(buffer, -1, mpi_type)) \
  }

#define SLABMARK_BLOCKING(suffix, take, direction, kind, parameters, arguments, access)          \
  SLABMARK_FOR_EACH_TYPE(SLABMARK_TYPED, suffix, take, direction, kind, parameters, arguments,   \
                         access)                                                                 \
  int ncmpi_##direction##_##kind##suffix(                                                        \
      int ncid, int varid, SLABMARK_UNPACK parameters SLABMARK_POINTER_##direction(void) buffer, \
      MPI_Offset count_of_types, MPI_Datatype type) {                                            \
    SLABMARK_MOVE(ncmpi_##direction##_##kind##suffix, take, direction,                           \
                  (SLABMARK_UNPACK arguments buffer, count_of_types, type), access,              \
                  memory_of(buffer, count_of_types, type))                                       \
  }
