#pragma once

#include "storage/pnetcdf/calls/call.hpp"

// PnetCDF's functions that move data have names of three parts: what is done, for which part of a
// variable, with which type in memory. These tables are the only list of them: the wrappers of the
// drop-in and of the recorder, and the calls that the drop-in and the player make, come from here.

#define SLABMARK_UNPACK(...) __VA_ARGS__

// X(name, type in C, type in MPI, ...)
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

// The same of functions for several variables, whose strides and maps may be left out for all.
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
