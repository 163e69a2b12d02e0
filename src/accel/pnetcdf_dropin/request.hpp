#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>

#include <pnetcdf.h>

#include "accel/pnetcdf_dropin/geometry.hpp"
#include "accel/pnetcdf_dropin/memory.hpp"
#include "accel/pnetcdf_dropin/plan.hpp"
#include "collective/locator/netcdf_locator.hpp"
#include "storage/pnetcdf/calls/call.hpp"

namespace slabmark::dropin {

using pnetcdf::Call;
using pnetcdf::Direction;

/// Bytes of what a rank asks for at once, beyond which PnetCDF returns NC_EMAX_REQ, unless it was
/// built for more.
constexpr std::uint64_t largest_native_request = std::numeric_limits<int>::max();

/// A request that was accepted and is pending, or part of a blocking call.
struct Request {
  int id = NC_REQ_NULL;
  Direction direction = Direction::put;
  bool buffered = false;  ///< of a bput
  int variable = 0;
  GeometryPtr geometry;
  std::uint64_t first_record = 0, end_record = 0;
  std::optional<UserMemory> memory;
  ElementType type = ElementType::character;  ///< of the variable
  std::unique_ptr<std::byte[]> packed;  ///< null where elements move from or to the caller's memory
  std::uint64_t sample = 0;             ///< of the caller's memory, where a put moves from there

  /// True if one of NC_REQ_ALL, NC_GET_REQ_ALL and NC_PUT_REQ_ALL means it.
  bool is_of(int kind) const {
    return kind == NC_REQ_ALL || (kind == NC_PUT_REQ_ALL) == (direction == Direction::put);
  }
  bool is_put_of(int its_variable) const {
    return direction == Direction::put && variable == its_variable;
  }
  std::uint64_t bytes() const { return geometry->elements() * size_of(type); }
  Posted posted() const {
    return {variable, geometry, first_record, packed ? packed.get() : memory->address()};
  }
};

struct AcceptResult {
  bool accepted = false;             ///< else PnetCDF judges the call
  std::unique_ptr<Request> request;  ///< null for no elements
  /// Not accepted since a value does not fit into the variable. Never of a bput, since only PnetCDF
  /// knows when which part of its buffer is free again.
  bool out_of_range = false;
};

/// Makes a request of a call for a file.
AcceptResult accept(const Call& call, collective::NetcdfLocator& locator, GeometryTable& geometries,
                    bool writable);

/// More pieces than these a call does not ask for.
std::uint64_t most_pieces(const Call& call, collective::NetcdfLocator& locator);

/// Has PnetCDF post the same request. Returns its code.
int repost(int ncid, const Request& request, int* id);

}  // namespace slabmark::dropin
