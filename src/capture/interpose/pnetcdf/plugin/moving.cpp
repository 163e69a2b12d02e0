// The calls that move data, of all ranks or of each for itself, and those that post a request.
#include "capture/interpose/pnetcdf/calls.hpp"
#include "storage/pnetcdf/calls/wrappers.hpp"

using namespace slabmark::pnetcdf;
namespace capture = slabmark::capture;

extern "C" {
SLABMARK_FOR_EACH_KIND(SLABMARK_BLOCKING, _all, capture::move_collectively, put)
SLABMARK_FOR_EACH_KIND(SLABMARK_BLOCKING, _all, capture::move_collectively, get)
SLABMARK_FOR_EACH_KIND(SLABMARK_BLOCKING, , capture::move_alone, put)
SLABMARK_FOR_EACH_KIND(SLABMARK_BLOCKING, , capture::move_alone, get)
SLABMARK_FOR_EACH_SEVERAL(SLABMARK_SEVERAL, _all, capture::move_several_collectively, put)
SLABMARK_FOR_EACH_SEVERAL(SLABMARK_SEVERAL, _all, capture::move_several_collectively, get)
SLABMARK_FOR_EACH_SEVERAL(SLABMARK_SEVERAL, , capture::move_several_alone, put)
SLABMARK_FOR_EACH_SEVERAL(SLABMARK_SEVERAL, , capture::move_several_alone, get)
SLABMARK_FOR_EACH_KIND(SLABMARK_NONBLOCKING, iput, capture::post, put, false)
SLABMARK_FOR_EACH_KIND(SLABMARK_NONBLOCKING, bput, capture::post, put, true)
SLABMARK_FOR_EACH_KIND(SLABMARK_NONBLOCKING, iget, capture::post, get, false)
}
