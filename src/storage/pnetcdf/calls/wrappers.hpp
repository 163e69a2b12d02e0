#pragma once

#include "core/base/function_ref.hpp"
#include "storage/pnetcdf/calls/families.hpp"
#include "storage/pnetcdf/calls/native.hpp"

// The macros that write the functions of a library that stands in for PnetCDF, to be used where the
// names of slabmark::pnetcdf are visible. `take` is the function that each call goes to:
//
//   SLABMARK_FOR_EACH_KIND(SLABMARK_BLOCKING, suffix, take, direction)
//     take(ncid, const Call&, native())
//   SLABMARK_FOR_EACH_KIND(SLABMARK_NONBLOCKING, verb, take, direction, buffered)
//     take(ncid, const Call&, id, native(id))
//   SLABMARK_FOR_EACH_SEVERAL(SLABMARK_SEVERAL, suffix, take, direction)
//     take(ncid, count, call_of(i), native())
//
// `suffix` is _all for the collective functions or empty. native() makes PnetCDF's own call.

// Puts take constant memory.
#define SLABMARK_POINTER_put(type) const type*
#define SLABMARK_POINTER_get(type) type*
#define SLABMARK_POINTERS_put(type) type* const*
#define SLABMARK_POINTERS_get(type) type**

#define SLABMARK_MOVE(name, take, direction, arguments, access, memory)                           \
  const auto native = [&] {                                                                       \
    return SLABMARK_NATIVE(name)(ncid, varid, SLABMARK_UNPACK arguments);                         \
  };                                                                                              \
  return take(ncid, {Direction::direction, false, varid, Access{SLABMARK_UNPACK access}, memory}, \
              native);

#define SLABMARK_BLOCKING_TYPED(type, c_type, mpi_type, suffix, take, direction, kind, parameters, \
                                arguments, access)                                                 \
  int ncmpi_##direction##_##kind##_##type##suffix(                                                 \
      int ncid, int varid,                                                                         \
      SLABMARK_UNPACK parameters SLABMARK_POINTER_##direction(c_type) buffer) {                    \
    SLABMARK_MOVE(ncmpi_##direction##_##kind##_##type##suffix, take, direction,                    \
                  (SLABMARK_UNPACK arguments buffer), access, memory_of(buffer, -1, mpi_type))     \
  }

#define SLABMARK_BLOCKING(suffix, take, direction, kind, parameters, arguments, access)          \
  SLABMARK_FOR_EACH_TYPE(SLABMARK_BLOCKING_TYPED, suffix, take, direction, kind, parameters,     \
                         arguments, access)                                                      \
  int ncmpi_##direction##_##kind##suffix(                                                        \
      int ncid, int varid, SLABMARK_UNPACK parameters SLABMARK_POINTER_##direction(void) buffer, \
      MPI_Offset count_of_types, MPI_Datatype type) {                                            \
    SLABMARK_MOVE(ncmpi_##direction##_##kind##suffix, take, direction,                           \
                  (SLABMARK_UNPACK arguments buffer, count_of_types, type), access,              \
                  memory_of(buffer, count_of_types, type))                                       \
  }

#define SLABMARK_POST(name, take, direction, buffered, arguments, access, memory)                  \
  const auto native = [&](int* native_id) {                                                        \
    return SLABMARK_NATIVE(name)(ncid, varid, SLABMARK_UNPACK arguments, native_id);               \
  };                                                                                               \
  return take(ncid,                                                                                \
              {Direction::direction, buffered, varid, Access{SLABMARK_UNPACK access}, memory}, id, \
              native);

#define SLABMARK_NONBLOCKING_TYPED(type, c_type, mpi_type, verb, take, direction, buffered, kind,  \
                                   parameters, arguments, access)                                  \
  int ncmpi_##verb##_##kind##_##type(                                                              \
      int ncid, int varid, SLABMARK_UNPACK parameters SLABMARK_POINTER_##direction(c_type) buffer, \
      int* id) {                                                                                   \
    SLABMARK_POST(ncmpi_##verb##_##kind##_##type, take, direction, buffered,                       \
                  (SLABMARK_UNPACK arguments buffer), access, memory_of(buffer, -1, mpi_type))     \
  }

#define SLABMARK_NONBLOCKING(verb, take, direction, buffered, kind, parameters, arguments, access) \
  SLABMARK_FOR_EACH_TYPE(SLABMARK_NONBLOCKING_TYPED, verb, take, direction, buffered, kind,        \
                         parameters, arguments, access)                                            \
  int ncmpi_##verb##_##kind(int ncid, int varid,                                                   \
                            SLABMARK_UNPACK parameters SLABMARK_POINTER_##direction(void) buffer,  \
                            MPI_Offset count_of_types, MPI_Datatype type, int* id) {               \
    SLABMARK_POST(ncmpi_##verb##_##kind, take, direction, buffered,                                \
                  (SLABMARK_UNPACK arguments buffer, count_of_types, type), access,                \
                  memory_of(buffer, count_of_types, type))                                         \
  }

#define SLABMARK_MOVE_SEVERAL(name, take, direction, arguments, access, memory)                   \
  const auto native = [&] {                                                                       \
    return SLABMARK_NATIVE(name)(ncid, count_of_variables, variables, SLABMARK_UNPACK arguments); \
  };                                                                                              \
  const auto call_of = [&](int i) {                                                               \
    return Call{Direction::direction, false, variables[i], Access{SLABMARK_UNPACK access},        \
                memory};                                                                          \
  };                                                                                              \
  return take(ncid, count_of_variables, call_of, native);

#define SLABMARK_SEVERAL_TYPED(type, c_type, mpi_type, suffix, take, direction, kind, parameters, \
                               arguments, access)                                                 \
  int ncmpi_m##direction##_##kind##_##type##suffix(                                               \
      int ncid, int count_of_variables, int* variables,                                           \
      SLABMARK_UNPACK parameters SLABMARK_POINTERS_##direction(c_type) buffers) {                 \
    SLABMARK_MOVE_SEVERAL(ncmpi_m##direction##_##kind##_##type##suffix, take, direction,          \
                          (SLABMARK_UNPACK arguments buffers), access,                            \
                          memory_of(buffers[i], -1, mpi_type))                                    \
  }

#define SLABMARK_SEVERAL(suffix, take, direction, kind, parameters, arguments, access)         \
  SLABMARK_FOR_EACH_TYPE(SLABMARK_SEVERAL_TYPED, suffix, take, direction, kind, parameters,    \
                         arguments, access)                                                    \
  int ncmpi_m##direction##_##kind##suffix(                                                     \
      int ncid, int count_of_variables, int* variables,                                        \
      SLABMARK_UNPACK parameters SLABMARK_POINTERS_##direction(void) buffers,                  \
      const MPI_Offset* counts_of_types, const MPI_Datatype* types) {                          \
    SLABMARK_MOVE_SEVERAL(ncmpi_m##direction##_##kind##suffix, take, direction,                \
                          (SLABMARK_UNPACK arguments buffers, counts_of_types, types), access, \
                          memory_of(buffers[i], counts_of_types[i], types[i]))                 \
  }

namespace slabmark::pnetcdf {

inline MemoryArgument memory_of(const void* address, MPI_Offset count, MPI_Datatype type) {
  return {const_cast<void*>(address), count, type};
}

}  // namespace slabmark::pnetcdf
