// The collective put and get.
#include "accel/pnetcdf_dropin/blocking.hpp"

using namespace slabmark::dropin;

extern "C" {
SLABMARK_FOR_EACH_KIND(SLABMARK_BLOCKING, _all, blocking, put)
SLABMARK_FOR_EACH_KIND(SLABMARK_BLOCKING, _all, blocking, get)
}
