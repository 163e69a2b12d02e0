#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "accel/pnetcdf_dropin/geometry.hpp"
#include "accel/pnetcdf_dropin/plan.hpp"
#include "core/geometry/element_type.hpp"

namespace slabmark::dropin {

/// What the header of an open file says. It is asked of PnetCDF once, and again after forget().
class Header {
 public:
  struct Variable {
    std::optional<ElementType> type;  ///< none: not a type of the classic formats
    Shape shape;
    std::uint64_t offset = 0;
  };

  explicit Header(int ncid) : ncid_(ncid) {}

  void forget() { is_known_ = false; }

  // Null where there is no such variable. A shape is known sooner, since it takes fewer calls.
  const Shape* shape(int id);
  const Variable* variable(int id);

  std::uint64_t records();  ///< how many there are now

  ArrayPlace place_of(ArrayName array);
  /// Most bytes between arrays that belong to nobody.
  std::uint64_t padding();

 private:
  void ensure_known();
  MPI_Offset length_of(int dimension);

  int ncid_;
  bool is_known_ = false;
  std::vector<std::optional<Shape>> shapes_;
  std::vector<std::optional<Variable>> variables_;
  std::map<int, MPI_Offset> lengths_;  ///< of dimensions
  int unlimited_dimension_ = -1;
  std::uint64_t record_size_ = 0;
};

}  // namespace slabmark::dropin
