#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <mpi.h>
#include <pnetcdf.h>

namespace slabmark::dropin {

// What an element is, in memory or in the file (there big endian), is said as PnetCDF says it.

/// Bytes of one.
std::uint64_t size_of(nc_type type);

/// Whether it is a type of the classic formats.
bool is_classic(nc_type type);

/// The predefined MPI type of a variable's type in memory.
MPI_Datatype mpi_type_of(nc_type type);

/// The one element type that an MPI datatype consists of, predefined or derived; none where it has
/// several or one that PnetCDF does not know.
std::optional<nc_type> element_type_of(MPI_Datatype type);

/// Whether each value of `from` has its place in `to`.
bool always_fits(nc_type from, nc_type to);

/// Converts `count` elements. False where a value does not fit, which PnetCDF has rules for: then
/// what stands at `to` is of no use. Text is converted to nothing else.
bool convert(nc_type from, const void* source, nc_type to, void* target, std::uint64_t count);

}  // namespace slabmark::dropin
