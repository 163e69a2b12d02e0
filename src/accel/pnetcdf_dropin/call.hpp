#pragma once

#include "accel/pnetcdf_dropin/geometry.hpp"
#include "accel/pnetcdf_dropin/memory.hpp"

namespace slabmark::dropin {

enum class Direction { put, get };

/// A call of the program that moves a part of a variable, in its own words.
struct Call {
  Direction direction;
  bool buffered;  ///< bput
  int variable;
  Access access;
  MemoryArgument memory;
};

}  // namespace slabmark::dropin
