#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include <mpi.h>

#include "collective/locator/netcdf_locator.hpp"
#include "core/geometry/piece.hpp"
#include "storage/pnetcdf/calls/call.hpp"

namespace slabmark::dropin {

using pnetcdf::Access;

using Shape = collective::NetcdfShape;

/// A part of a variable: what it has of each array, that is of each record, or of all if there are
/// no records. Requests for the same part, of any variable of that shape, in any record and file,
/// share one object.
class Geometry {
 public:
  /// Its share of one array. `buffer` of a piece counts the elements of the whole request.
  struct Part {
    std::uint64_t record = 0;   ///< counted from the lowest of the request
    std::vector<Piece> pieces;  ///< ascending in the file
    bool repeats = false;       ///< pieces have elements in common
  };

  const std::vector<Part>& parts() const { return parts_; }  ///< by record, ascending
  bool has_records() const { return shape_.has_records; }
  std::uint64_t elements() const { return elements_; }  ///< also those asked for twice
  std::uint64_t pieces() const { return pieces_; }

  /// The same in the words of ncmpi_*_varn, or of ncmpi_*_vars where there are strides.
  struct Boxes {
    std::vector<MPI_Offset> starts, counts;  ///< of all boxes, one after another
    std::vector<MPI_Offset> strides;         ///< empty, or of the only box
    std::vector<MPI_Offset*> start_of, count_of;
  };
  Boxes boxes(std::uint64_t first_record) const;

 private:
  friend class GeometryTable;
  std::size_t per_box() const { return (strided_ ? 3 : 2) * shape_.lengths.size(); }
  bool is_called(const Shape& shape, const Access& access);
  bool is(const Shape& shape, bool strided, std::span<const MPI_Offset> numbers,
          MPI_Offset lowest) const;
  void call_from(MPI_Offset lowest);
  void make_parts();
  void add_box(const MPI_Offset* numbers,
               std::unordered_map<std::uint64_t, std::size_t>& part_of_record);

  Shape shape_;
  bool strided_ = false;
  /// Start, count, and stride if strided, of each box. They are those of the latest call, which
  /// counts records from `lowest_record_` on.
  std::vector<MPI_Offset> numbers_;
  /// Addresses at which a call had all of them side by side: such a call is compared at once.
  std::vector<const MPI_Offset*> starts_, counts_;
  MPI_Offset lowest_record_ = 0;
  MPI_Offset records_ = 0;  ///< from the lowest to the end of the highest
  std::vector<Part> parts_;
  std::uint64_t elements_ = 0;
  std::uint64_t pieces_ = 0;
};

using GeometryPtr = std::shared_ptr<const Geometry>;

/// The elements that a call asks for. `geometry` is null for no elements at all.
struct ResolvedAccess {
  bool valid = false;  ///< else PnetCDF judges it
  GeometryPtr geometry;
  std::uint64_t first_record = 0;
  std::uint64_t end_record = 0;    ///< 0 without records
  std::vector<MPI_Offset> counts;  ///< of the only box
};

/// All parts of variables that are in use.
class GeometryTable {
 public:
  /// `records`: how many there are; `grows`: the call may add some. Requests beyond the variable,
  /// and all others for which PnetCDF has an error code, are invalid and have no effect. Nor
  /// is more than `most_elements`, unless it falls into few pieces.
  ResolvedAccess find(const Shape& shape, const Access& access, MPI_Offset records, bool grows,
                      std::uint64_t most_elements);

 private:
  using Known = std::shared_ptr<Geometry>;
  /// The extent of a call's access, beside the numbers of its boxes.
  struct Asked {
    MPI_Offset lowest_record = std::numeric_limits<MPI_Offset>::max(), end_record = 0;
    MPI_Offset records = 0;          ///< of all boxes together
    std::uint64_t elements = 0;      ///< the same
    std::uint64_t pieces = 0;        ///< the most that they may be
    std::vector<MPI_Offset> counts;  ///< of the only box
  };
  bool add_box(const Shape& shape, const Access& access, int box, MPI_Offset records, Asked& asked);
  Known find_called(const Shape& shape, const Access& access);
  Known intern(const Shape& shape, bool strided, MPI_Offset lowest);
  Known use(const Known& geometry);

  std::vector<MPI_Offset> numbers_;  // of the call at hand
  std::vector<Known> recent_;        // the latest first
  std::vector<std::vector<std::weak_ptr<Geometry>>> buckets_;
  std::size_t known_ = 0;
};

}  // namespace slabmark::dropin
