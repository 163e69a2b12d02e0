#pragma once

#include <algorithm>
#include <span>

#include <pnetcdf.h>

#include "storage/pnetcdf/calls/families.hpp"

namespace slabmark::pnetcdf {

/// One of PnetCDF's flexible functions that move a part of one variable.
struct FlexibleFunction {
  Verb verb;
  Access::Kind kind;
  bool collective;
  /// `id` is of iput, iget and bput alone.
  int (*call)(int ncid, const Call& call, int* id);
};

/// Makes the flexible call that `verb`, `collective` and the kind of `call` name.
inline int make_call(std::span<const FlexibleFunction> functions, Verb verb, bool collective,
                     int ncid, const Call& call, int* id = nullptr) {
  const auto found = std::ranges::find_if(functions, [&](const FlexibleFunction& one) {
    return one.verb == verb && one.collective == collective && one.kind == call.access.kind;
  });
  return found == functions.end() ? NC_ENOTSUPPORT : found->call(ncid, call, id);
}

}  // namespace slabmark::pnetcdf

#define SLABMARK_FLEXIBLE_ROW(OF, verb, suffix, request, function_kind, parameters, arguments,  \
                              access_of_kind)                                                   \
  {::slabmark::pnetcdf::Verb::verb, ::slabmark::pnetcdf::Access::Kind::function_kind,           \
   sizeof #suffix > 1,                                                                          \
   [](int ncid, const ::slabmark::pnetcdf::Call& call, [[maybe_unused]] int* id) {              \
     [[maybe_unused]] const auto& [kind, start, count, stride, imap, boxes, starts, counts] =   \
         call.access;                                                                           \
     return OF(ncmpi_##verb##_##function_kind##suffix)(                                         \
         ncid, call.variable, SLABMARK_UNPACK arguments call.memory.address, call.memory.count, \
         call.memory.type SLABMARK_UNPACK request);                                             \
   }},

// The rows of a table of FlexibleFunction, with OF(name) for the function of that name: itself
// where the program links PnetCDF, SLABMARK_NATIVE(name) in a library that stands in for PnetCDF.
#define SLABMARK_FLEXIBLE_FUNCTIONS(OF)                             \
  SLABMARK_FOR_EACH_KIND(SLABMARK_FLEXIBLE_ROW, OF, put, , ())      \
  SLABMARK_FOR_EACH_KIND(SLABMARK_FLEXIBLE_ROW, OF, put, _all, ())  \
  SLABMARK_FOR_EACH_KIND(SLABMARK_FLEXIBLE_ROW, OF, get, , ())      \
  SLABMARK_FOR_EACH_KIND(SLABMARK_FLEXIBLE_ROW, OF, get, _all, ())  \
  SLABMARK_FOR_EACH_KIND(SLABMARK_FLEXIBLE_ROW, OF, iput, , (, id)) \
  SLABMARK_FOR_EACH_KIND(SLABMARK_FLEXIBLE_ROW, OF, iget, , (, id)) \
  SLABMARK_FOR_EACH_KIND(SLABMARK_FLEXIBLE_ROW, OF, bput, , (, id))
