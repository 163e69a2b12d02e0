#include "accel/pnetcdf_dropin/element_type.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/parallel/type_contents.hpp"

namespace slabmark::dropin {

namespace {

/// Calls visit(a value of the C++ type).
template <class Visit>
auto with_type(nc_type type, const Visit& visit) {
  switch (type) {
    case NC_CHAR:  // never converted: only its size counts
    case NC_BYTE:
      return visit(std::int8_t{});
    case NC_UBYTE:
      return visit(std::uint8_t{});
    case NC_SHORT:
      return visit(std::int16_t{});
    case NC_USHORT:
      return visit(std::uint16_t{});
    case NC_INT:
      return visit(std::int32_t{});
    case NC_UINT:
      return visit(std::uint32_t{});
    case NC_INT64:
      return visit(std::int64_t{});
    case NC_UINT64:
      return visit(std::uint64_t{});
    case NC_FLOAT:
      return visit(float{});
    default:
      return visit(double{});
  }
}

// Integers become floating point whatever they lose, as in PnetCDF.
template <class From, class To>
constexpr bool always() {
  if constexpr (std::is_floating_point_v<To>) {
    return !std::is_same_v<From, double> || std::is_same_v<To, double>;
  } else if constexpr (std::is_floating_point_v<From>) {
    return false;
  } else {
    return std::in_range<To>(std::numeric_limits<From>::min()) &&
           std::in_range<To>(std::numeric_limits<From>::max());
  }
}

template <class To, class From>
bool fits(From value) {
  if constexpr (std::is_floating_point_v<To>) {
    return std::isnan(value) ||
           (value <= std::numeric_limits<To>::max() && value >= std::numeric_limits<To>::lowest());
  } else if constexpr (std::is_floating_point_v<From>) {
    // The largest integers are no floating point numbers: what is rounded to them is left alone.
    constexpr auto end = static_cast<From>(std::numeric_limits<To>::max() / 2 + 1) * 2;
    return value >= static_cast<From>(std::numeric_limits<To>::min()) && value <= end - 1 &&
           value < end;
  } else {
    return std::in_range<To>(value);
  }
}

template <class From, class To>
bool convert_elements(const void* source, void* target, std::uint64_t count) {
  const auto* from = static_cast<const std::byte*>(source);
  auto* to = static_cast<std::byte*>(target);
  for (std::uint64_t i = 0; i < count; ++i, from += sizeof(From), to += sizeof(To)) {
    From value;  // neither side need be aligned
    std::memcpy(&value, from, sizeof value);
    if constexpr (!always<From, To>()) {
      if (!fits<To>(value)) return false;
    }
    const To converted = static_cast<To>(value);
    std::memcpy(to, &converted, sizeof converted);
  }
  return true;
}

/// A type, in files and in memory.
struct TypeRow {
  nc_type type;
  MPI_Datatype in_memory;
};

// All types are here, once.
const std::array<TypeRow, 11>& type_rows() {
  static const std::array<TypeRow, 11> rows = {{
      {NC_CHAR, MPI_CHAR},
      {NC_BYTE, MPI_SIGNED_CHAR},
      {NC_UBYTE, MPI_UNSIGNED_CHAR},
      {NC_SHORT, MPI_SHORT},
      {NC_USHORT, MPI_UNSIGNED_SHORT},
      {NC_INT, MPI_INT},
      {NC_UINT, MPI_UNSIGNED},
      {NC_INT64, MPI_LONG_LONG_INT},
      {NC_UINT64, MPI_UNSIGNED_LONG_LONG},
      {NC_FLOAT, MPI_FLOAT},
      {NC_DOUBLE, MPI_DOUBLE},
  }};
  return rows;
}

std::optional<nc_type> predefined(MPI_Datatype type) {
  for (const TypeRow& row : type_rows()) {
    if (type == row.in_memory) return row.type;
  }
  const std::pair<MPI_Datatype, nc_type> types[] = {
      // Fortran's, as its flexible calls name them
      {MPI_CHARACTER, NC_CHAR}, {MPI_INTEGER1, NC_BYTE},  {MPI_INTEGER2, NC_SHORT},
      {MPI_INTEGER4, NC_INT},   {MPI_INTEGER8, NC_INT64}, {MPI_REAL4, NC_FLOAT},
      {MPI_REAL8, NC_DOUBLE}};
  for (const auto& [mpi, element] : types) {
    if (type == mpi) return element;
  }
  // Types whose size the compiler chooses: other sizes than the usual are left to PnetCDF.
  int size = 0;
  if (type != MPI_LONG && type != MPI_INTEGER && type != MPI_REAL && type != MPI_DOUBLE_PRECISION) {
    return std::nullopt;
  }
  MPI_Type_size(type, &size);
  if (type == MPI_LONG) return size == 8 ? NC_INT64 : NC_INT;
  if (type == MPI_INTEGER && size == 4) return NC_INT;
  if (type == MPI_REAL && size == 4) return NC_FLOAT;
  if (type == MPI_DOUBLE_PRECISION && size == 8) return NC_DOUBLE;
  return std::nullopt;
}

}  // namespace

std::uint64_t size_of(nc_type type) {
  return with_type(type, [](auto value) { return std::uint64_t{sizeof value}; });
}

bool is_classic(nc_type type) { return type >= NC_BYTE && type <= NC_UINT64; }

MPI_Datatype mpi_type_of(nc_type type) {
  const auto& rows = type_rows();
  return std::find_if(rows.begin(), rows.end(),
                      [type](const TypeRow& row) { return row.type == type; })
      ->in_memory;
}

std::optional<nc_type> element_type_of(MPI_Datatype type) {
  if (is_predefined(type)) return predefined(type);
  const auto contents = TypeContents::of(type);
  if (!contents || contents->types().empty()) return std::nullopt;
  const auto common = element_type_of(contents->types().front());
  for (MPI_Datatype part : contents->types()) {
    if (element_type_of(part) != common) return std::nullopt;
  }
  return common;
}

bool always_fits(nc_type from, nc_type to) {
  if (from == NC_CHAR || to == NC_CHAR) return from == to;
  return with_type(from, [to](auto source) {
    return with_type(to, [](auto target) { return always<decltype(source), decltype(target)>(); });
  });
}

bool convert(nc_type from, const void* source, nc_type to, void* target, std::uint64_t count) {
  if (from == to) {
    std::memcpy(target, source, count * size_of(from));
    return true;
  }
  if (from == NC_CHAR || to == NC_CHAR) return false;
  return with_type(from, [&](auto value) {
    return with_type(to, [&](auto converted) {
      return convert_elements<decltype(value), decltype(converted)>(source, target, count);
    });
  });
}

}  // namespace slabmark::dropin
