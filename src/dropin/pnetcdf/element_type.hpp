#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <mpi.h>
#include <pnetcdf.h>

namespace slabmark::dropin {

/// What an element is, in memory or in the file (there big endian).
enum class ElementType {
  text,
  int8,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  uint64,
  float32,
  float64
};

std::uint64_t size_of(ElementType type);

/// Of a variable's elements; none for what is no type of the classic formats.
std::optional<ElementType> external_type(nc_type type);

/// The predefined MPI type of a variable's type in memory.
MPI_Datatype mpi_type_of(ElementType type);

/// The one element type that an MPI datatype consists of, predefined or derived; none where it has
/// several or one that PnetCDF does not know.
std::optional<ElementType> element_type_of(MPI_Datatype type);

/// Whether each value of `from` has its place in `to`.
bool always_fits(ElementType from, ElementType to);

/// Converts `count` elements. False where a value does not fit, which PnetCDF has rules for: then
/// what stands at `to` is of no use. Text is converted to nothing else.
bool convert(ElementType from, const void* source, ElementType to, void* target,
             std::uint64_t count);

}  // namespace slabmark::dropin
