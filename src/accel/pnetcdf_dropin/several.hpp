#pragma once

#include "accel/pnetcdf_dropin/families.hpp"

// The functions that put and get parts of several variables at once, made as those of blocking.hpp.

// Strides and maps may be left out for all variables.
#define SLABMARK_OF(list) (list ? list[i] : nullptr)

#define SLABMARK_FOR_EACH_SEVERAL(X, ...)                                                     \
  X(__VA_ARGS__, var, (), (), (.kind = Access::Kind::var))                                    \
  X(__VA_ARGS__, var1, (MPI_Offset* const* starts, ), (starts, ),                             \
    (.kind = Access::Kind::var1, .start = SLABMARK_OF(starts)))                               \
  X(__VA_ARGS__, vara, (MPI_Offset* const* starts, MPI_Offset* const* counts, ),              \
    (starts, counts, ),                                                                       \
    (.kind = Access::Kind::vara, .start = SLABMARK_OF(starts), .count = SLABMARK_OF(counts))) \
  X(__VA_ARGS__, vars,                                                                        \
    (MPI_Offset* const* starts, MPI_Offset* const* counts, MPI_Offset* const* strides, ),     \
    (starts, counts, strides, ),                                                              \
    (.kind = Access::Kind::vars, .start = SLABMARK_OF(starts), .count = SLABMARK_OF(counts),  \
     .stride = SLABMARK_OF(strides)))                                                         \
  X(__VA_ARGS__, varm,                                                                        \
    (MPI_Offset* const* starts, MPI_Offset* const* counts, MPI_Offset* const* strides,        \
     MPI_Offset* const* imaps, ),                                                             \
    (starts, counts, strides, imaps, ),                                                       \
    (.kind = Access::Kind::varm, .start = SLABMARK_OF(starts), .count = SLABMARK_OF(counts),  \
     .stride = SLABMARK_OF(strides), .imap = SLABMARK_OF(imaps)))

#define SLABMARK_POINTERS_put(type) type* const*
#define SLABMARK_POINTERS_get(type) type**

#define SLABMARK_MOVE_SEVERAL(name, take, direction, arguments, access, memory)                   \
  const auto native = [&] {                                                                       \
    return SLABMARK_NATIVE(name)(ncid, count_of_variables, variables, SLABMARK_UNPACK arguments); \
  };                                                                                              \
  const auto call_of = [&](int i) {                                                               \
    return Call{Direction::direction, false, variables[i], Access{SLABMARK_UNPACK access},        \
                memory};                                                                          \
  };                                                                                              \
  return take(ncid, count_of_variables, std::cref(call_of), std::cref(native));

#define SLABMARK_TYPED_SEVERAL(type, c_type, mpi_type, suffix, take, direction, kind, parameters, \
                               arguments, access)                                                 \
  int ncmpi_m##direction##_##kind##_##type##suffix(                                               \
      int ncid, int count_of_variables, int* variables,                                           \
      SLABMARK_UNPACK parameters SLABMARK_POINTERS_##direction(c_type) buffers) {                 \
    SLABMARK_MOVE_SEVERAL(ncmpi_m##direction##_##kind##_##type##suffix, take, direction,          \
                          (SLABMARK_UNPACK arguments buffers), access,                            \
                          memory_of(buffers[i], -1, mpi_type))                                    \
  }

#define SLABMARK_SEVERAL(suffix, take, direction, kind, parameters, arguments, access)         \
  SLABMARK_FOR_EACH_TYPE(SLABMARK_TYPED_SEVERAL, suffix, take, direction, kind, parameters,    \
                         arguments, access)                                                    \
  int ncmpi_m##direction##_##kind##suffix(                                                     \
      int ncid, int count_of_variables, int* variables,                                        \
      SLABMARK_UNPACK parameters SLABMARK_POINTERS_##direction(void) buffers,                  \
      const MPI_Offset* counts_of_types, const MPI_Datatype* types) {                          \
    SLABMARK_MOVE_SEVERAL(ncmpi_m##direction##_##kind##suffix, take, direction,                \
                          (SLABMARK_UNPACK arguments buffers, counts_of_types, types), access, \
                          memory_of(buffers[i], counts_of_types[i], types[i]))                 \
  }
