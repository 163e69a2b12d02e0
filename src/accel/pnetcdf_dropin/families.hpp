#pragma once

#include "accel/pnetcdf_dropin/calls.hpp"
#include "accel/pnetcdf_dropin/native.hpp"

// PnetCDF's calls that move data have names of three parts: what is done, for which part of a
// variable, with which type in memory. The tables here make all of them.

// X(name, type in C, type in MPI)
#define SLABMARK_FOR_EACH_TYPE(X, ...)                       \
  X(text, char, MPI_CHAR, __VA_ARGS__)                       \
  X(schar, signed char, MPI_SIGNED_CHAR, __VA_ARGS__)        \
  X(uchar, unsigned char, MPI_UNSIGNED_CHAR, __VA_ARGS__)    \
  X(short, short, MPI_SHORT, __VA_ARGS__)                    \
  X(ushort, unsigned short, MPI_UNSIGNED_SHORT, __VA_ARGS__) \
  X(int, int, MPI_INT, __VA_ARGS__)                          \
  X(uint, unsigned int, MPI_UNSIGNED, __VA_ARGS__)           \
  X(long, long, MPI_LONG, __VA_ARGS__)                       \
  X(float, float, MPI_FLOAT, __VA_ARGS__)                    \
  X(double, double, MPI_DOUBLE, __VA_ARGS__)                 \
  X(longlong, long long, MPI_LONG_LONG_INT, __VA_ARGS__)     \
  X(ulonglong, unsigned long long, MPI_UNSIGNED_LONG_LONG, __VA_ARGS__)

#define SLABMARK_UNPACK(...) __VA_ARGS__

// X(..., kind, parameters, arguments, Access)
#define SLABMARK_FOR_EACH_KIND(X, ...)                                                            \
  X(__VA_ARGS__, var, (), (), (.kind = Access::Kind::var))                                        \
  X(__VA_ARGS__, var1, (const MPI_Offset* start, ), (start, ),                                    \
    (.kind = Access::Kind::var1, .start = start))                                                 \
  X(__VA_ARGS__, vara, (const MPI_Offset* start, const MPI_Offset* count, ), (start, count, ),    \
    (.kind = Access::Kind::vara, .start = start, .count = count))                                 \
  X(__VA_ARGS__, vars,                                                                            \
    (const MPI_Offset* start, const MPI_Offset* count, const MPI_Offset* stride, ),               \
    (start, count, stride, ),                                                                     \
    (.kind = Access::Kind::vars, .start = start, .count = count, .stride = stride))               \
  X(__VA_ARGS__, varm,                                                                            \
    (const MPI_Offset* start, const MPI_Offset* count, const MPI_Offset* stride,                  \
     const MPI_Offset* imap, ),                                                                   \
    (start, count, stride, imap, ),                                                               \
    (.kind = Access::Kind::varm, .start = start, .count = count, .stride = stride, .imap = imap)) \
  X(__VA_ARGS__, varn, (int boxes, MPI_Offset* const* starts, MPI_Offset* const* counts, ),       \
    (boxes, starts, counts, ),                                                                    \
    (.kind = Access::Kind::varn, .boxes = boxes, .starts = starts, .counts = counts))

// What is put is const.
#define SLABMARK_POINTER_put(type) const type*
#define SLABMARK_POINTER_get(type) type*

namespace slabmark::dropin {

inline MemoryArgument memory_of(const void* address, MPI_Offset count, MPI_Datatype type) {
  return {const_cast<void*>(address), count, type};
}

}  // namespace slabmark::dropin
