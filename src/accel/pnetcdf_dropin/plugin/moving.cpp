// The calls that move data: the collective ones, and those that post a request.
#include "accel/pnetcdf_dropin/calls.hpp"
#include "storage/pnetcdf/calls/wrappers.hpp"

using namespace slabmark::pnetcdf;
using namespace slabmark::dropin;

extern "C" {
SLABMARK_FOR_EACH_KIND(SLABMARK_BLOCKING, _all, blocking, put)
SLABMARK_FOR_EACH_KIND(SLABMARK_BLOCKING, _all, blocking, get)
SLABMARK_FOR_EACH_SEVERAL(SLABMARK_SEVERAL, _all, several, put)
SLABMARK_FOR_EACH_SEVERAL(SLABMARK_SEVERAL, _all, several, get)
SLABMARK_FOR_EACH_KIND(SLABMARK_NONBLOCKING, iput, nonblocking, put, false)
SLABMARK_FOR_EACH_KIND(SLABMARK_NONBLOCKING, bput, nonblocking, put, true)
SLABMARK_FOR_EACH_KIND(SLABMARK_NONBLOCKING, iget, nonblocking, get, false)
}
