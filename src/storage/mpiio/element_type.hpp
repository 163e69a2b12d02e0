#pragma once

#include <optional>

#include <mpi.h>

#include "core/geometry/element_type.hpp"

namespace slabmark::mpiio {

/// MPI's names of C's types.
inline const LibraryTypes<MPI_Datatype>& mpi_types() {
  static const LibraryTypes<MPI_Datatype> types{{{{ElementType::int8, MPI_SIGNED_CHAR},
                                                  {ElementType::uint8, MPI_UNSIGNED_CHAR},
                                                  {ElementType::int16, MPI_SHORT},
                                                  {ElementType::uint16, MPI_UNSIGNED_SHORT},
                                                  {ElementType::int32, MPI_INT},
                                                  {ElementType::uint32, MPI_UNSIGNED},
                                                  {ElementType::int64, MPI_LONG_LONG_INT},
                                                  {ElementType::uint64, MPI_UNSIGNED_LONG_LONG},
                                                  {ElementType::float32, MPI_FLOAT},
                                                  {ElementType::float64, MPI_DOUBLE},
                                                  {ElementType::character, MPI_CHAR}}}};
  return types;
}

inline MPI_Datatype mpi_type_of(ElementType type) { return mpi_types().at(type); }

/// Returns nothing for Fortran's types, and for types whose size the compiler chooses, such as
/// MPI_LONG.
inline std::optional<ElementType> element_type_of(MPI_Datatype type) {
  return mpi_types().find(type);
}

}  // namespace slabmark::mpiio
