// The put and get that each rank makes for itself.
#include "accel/pnetcdf_dropin/blocking.hpp"
#include "accel/pnetcdf_dropin/several.hpp"
#include "capture/interpose/pnetcdf/calls.hpp"

using namespace slabmark::dropin;

extern "C" {
SLABMARK_FOR_EACH_KIND(SLABMARK_BLOCKING, , independent, put)
SLABMARK_FOR_EACH_KIND(SLABMARK_BLOCKING, , independent, get)
SLABMARK_FOR_EACH_SEVERAL(SLABMARK_SEVERAL, , several_independent, put)
SLABMARK_FOR_EACH_SEVERAL(SLABMARK_SEVERAL, , several_independent, get)
}
