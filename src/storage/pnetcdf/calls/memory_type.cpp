#include "storage/pnetcdf/calls/memory_type.hpp"

#include <utility>

#include "core/parallel/type_contents.hpp"
#include "storage/mpiio/element_type.hpp"

namespace slabmark::pnetcdf {

namespace {

/// Fortran's types, as its flexible calls name them.
std::optional<ElementType> fortran_type(MPI_Datatype type) {
  const std::pair<MPI_Datatype, ElementType> types[] = {
      {MPI_CHARACTER, ElementType::character}, {MPI_INTEGER1, ElementType::int8},
      {MPI_INTEGER2, ElementType::int16},      {MPI_INTEGER4, ElementType::int32},
      {MPI_INTEGER8, ElementType::int64},      {MPI_REAL4, ElementType::float32},
      {MPI_REAL8, ElementType::float64}};
  for (const auto& [mpi, element] : types) {
    if (type == mpi) return element;
  }
  return std::nullopt;
}

/// A type whose size the compiler chooses. Sizes other than the usual ones are left to PnetCDF.
std::optional<ElementType> type_of_any_size(MPI_Datatype type) {
  if (type != MPI_LONG && type != MPI_INTEGER && type != MPI_REAL && type != MPI_DOUBLE_PRECISION) {
    return std::nullopt;
  }
  int size = 0;
  MPI_Type_size(type, &size);
  if (type == MPI_LONG) return size == 8 ? ElementType::int64 : ElementType::int32;
  if (type == MPI_INTEGER && size == 4) return ElementType::int32;
  if (type == MPI_REAL && size == 4) return ElementType::float32;
  if (type == MPI_DOUBLE_PRECISION && size == 8) return ElementType::float64;
  return std::nullopt;
}

}  // namespace

std::optional<ElementType> type_in_memory(MPI_Datatype type) {
  if (is_predefined(type)) {
    if (const auto known = mpiio::element_type_of(type)) return known;
    if (const auto known = fortran_type(type)) return known;
    return type_of_any_size(type);
  }
  const auto contents = TypeContents::of(type);
  if (!contents || contents->types().empty()) return std::nullopt;
  const auto common = type_in_memory(contents->types().front());
  for (MPI_Datatype part : contents->types()) {
    if (type_in_memory(part) != common) return std::nullopt;
  }
  return common;
}

}  // namespace slabmark::pnetcdf
