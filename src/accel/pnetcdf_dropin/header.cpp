#include "accel/pnetcdf_dropin/header.hpp"

#include <algorithm>

#include "storage/pnetcdf/calls/native.hpp"
#include "storage/pnetcdf/types/element_type.hpp"

namespace slabmark::dropin {

void Header::ensure_known() {
  if (is_known_) return;
  int count = 0;
  MPI_Offset record_size = 0;
  unlimited_dimension_ = -1;
  SLABMARK_NATIVE(ncmpi_inq_nvars)(ncid_, &count);
  SLABMARK_NATIVE(ncmpi_inq_unlimdim)(ncid_, &unlimited_dimension_);
  SLABMARK_NATIVE(ncmpi_inq_recsize)(ncid_, &record_size);
  record_size_ = static_cast<std::uint64_t>(record_size);
  shapes_.assign(static_cast<std::size_t>(std::max(count, 0)), std::nullopt);
  variables_.assign(shapes_.size(), std::nullopt);
  lengths_.clear();
  is_known_ = true;
}

const Shape* Header::shape(int id) {
  ensure_known();
  if (id < 0 || static_cast<std::size_t>(id) >= shapes_.size()) return nullptr;
  auto& known = shapes_[static_cast<std::size_t>(id)];
  if (known) return &*known;
  int dims = 0;
  if (SLABMARK_NATIVE(ncmpi_inq_varndims)(ncid_, id, &dims) != NC_NOERR) return nullptr;
  std::vector<int> ids(static_cast<std::size_t>(dims) + 1);
  SLABMARK_NATIVE(ncmpi_inq_vardimid)(ncid_, id, ids.data());
  ids.pop_back();
  Shape found;
  for (const int dimension : ids) {
    const bool of_records = dimension == unlimited_dimension_;
    found.lengths.push_back(of_records ? 0 : length_of(dimension));
    found.has_records |= of_records;
  }
  known = std::move(found);
  return &*known;
}

MPI_Offset Header::length_of(int dimension) {
  const auto [found, is_new] = lengths_.try_emplace(dimension, 0);
  if (is_new) SLABMARK_NATIVE(ncmpi_inq_dimlen)(ncid_, dimension, &found->second);
  return found->second;
}

const Header::Variable* Header::variable(int id) {
  const Shape* const its_shape = shape(id);
  if (!its_shape) return nullptr;
  auto& known = variables_[static_cast<std::size_t>(id)];
  if (known) return &*known;
  nc_type type = NC_NAT;
  MPI_Offset offset = 0;
  if (SLABMARK_NATIVE(ncmpi_inq_vartype)(ncid_, id, &type) != NC_NOERR ||
      SLABMARK_NATIVE(ncmpi_inq_varoffset)(ncid_, id, &offset) != NC_NOERR) {
    return nullptr;
  }
  known = {pnetcdf::element_type_of(type), *its_shape, static_cast<std::uint64_t>(offset)};
  return &*known;
}

std::uint64_t Header::records() {
  ensure_known();
  MPI_Offset records = 0;
  if (unlimited_dimension_ >= 0) {
    SLABMARK_NATIVE(ncmpi_inq_dimlen)(ncid_, unlimited_dimension_, &records);
  }
  return static_cast<std::uint64_t>(records);
}

ArrayPlace Header::place_of(ArrayName array) {
  const Variable& its = *variable(static_cast<int>(array.variable));
  const auto record = array.record == ArrayName::no_record ? 0 : array.record;
  return {its.offset + static_cast<std::uint64_t>(record) * record_size_, size_of(*its.type),
          its.shape.elements()};
}

// Variables begin at multiples of 4, but records of a single variable stand close together.
std::uint64_t Header::padding() {
  ensure_known();
  return record_size_ % 4 == 0 ? 3 : 0;
}

}  // namespace slabmark::dropin
