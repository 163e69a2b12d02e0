// The collective mput and mget, for parts of several variables.
#include "accel/pnetcdf_dropin/several.hpp"

using namespace slabmark::dropin;

extern "C" {
SLABMARK_FOR_EACH_SEVERAL(SLABMARK_SEVERAL, _all, several, put)
SLABMARK_FOR_EACH_SEVERAL(SLABMARK_SEVERAL, _all, several, get)
}
