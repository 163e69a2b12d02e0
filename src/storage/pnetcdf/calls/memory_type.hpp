#pragma once

#include <optional>

#include <mpi.h>

#include "core/geometry/element_type.hpp"

namespace slabmark::pnetcdf {

/// The one element type that an MPI datatype of a call's memory consists of, predefined or derived;
/// nothing where it has several or one that PnetCDF does not know.
std::optional<ElementType> type_in_memory(MPI_Datatype type);

}  // namespace slabmark::pnetcdf
