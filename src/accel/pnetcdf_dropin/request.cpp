#include "accel/pnetcdf_dropin/request.hpp"

#include <limits>
#include <utility>

#include "accel/pnetcdf_dropin/conversion.hpp"
#include "storage/mpiio/element_type.hpp"
#include "storage/pnetcdf/calls/flexible.hpp"
#include "storage/pnetcdf/calls/native.hpp"
#include "storage/pnetcdf/types/element_type.hpp"

namespace slabmark::dropin {

namespace {

constexpr pnetcdf::FlexibleFunction native_functions[] = {
    SLABMARK_FLEXIBLE_FUNCTIONS(SLABMARK_NATIVE)};

}  // namespace

AcceptResult accept(const Call& call, collective::NetcdfLocator& locator, GeometryTable& geometries,
                    bool writable) {
  const bool puts = call.direction == Direction::put;
  const collective::NetcdfLocator::Variable* const variable = locator.variable(call.variable);
  const auto type = variable ? pnetcdf::element_type_of(variable->type) : std::nullopt;
  if (!type || (puts && !writable)) return {};
  const bool needs_records =
      variable->shape.has_records && (!puts || call.access.kind == Access::Kind::var);
  const auto found = geometries.find(variable->shape, call.access,
                                     needs_records ? static_cast<MPI_Offset>(locator.records()) : 0,
                                     puts, largest_native_request / size_of(*type));
  if (!found.valid) return {};
  if (!found.geometry) {
    // PnetCDF does not convert between text and numbers, even in a request of zero elements.
    const auto nothing = UserMemory::of(call.memory, *type, 0, found.counts, nullptr);
    return {nothing.has_value(), nullptr};
  }
  auto request = std::make_unique<Request>();
  request->direction = call.direction;
  request->buffered = call.buffered;
  request->variable = call.variable;
  request->geometry = found.geometry;
  request->first_record = found.first_record;
  request->end_record = found.end_record;
  request->type = *type;
  request->memory = UserMemory::of(call.memory, request->type, found.geometry->elements(),
                                   found.counts, call.access.imap);
  if (!request->memory) return {};
  if (!puts && !always_fits(request->type, request->memory->type())) return {};
  if (!request->memory->is_plain() || call.buffered) {
    request->packed = std::make_unique_for_overwrite<std::byte[]>(request->bytes());
    if (puts && !request->memory->pack(request->packed.get())) {
      return {false, nullptr, !call.buffered};
    }
  }
  return {true, std::move(request)};
}

std::uint64_t most_pieces(const Call& call, collective::NetcdfLocator& locator) {
  constexpr auto unknown = std::numeric_limits<std::uint64_t>::max();
  const Access& access = call.access;
  if (access.kind == Access::Kind::var1) return 1;
  const Shape* const its = locator.shape(call.variable);
  if (!its || !access.count || access.stride || access.kind == Access::Kind::varn) return unknown;
  std::uint64_t pieces = 1;
  bool in_one = true;  // the dimensions behind
  for (std::size_t d = its->lengths.size(); d-- > 0 && pieces < unknown / largest_native_request;) {
    const MPI_Offset count = access.count[d];
    if (count < 0 || count > static_cast<MPI_Offset>(largest_native_request)) return unknown;
    const bool of_records = d == 0 && its->has_records;
    if (!in_one || of_records) pieces *= static_cast<std::uint64_t>(count);
    in_one = in_one && count == its->lengths[d];
  }
  return pieces;
}

int repost(int ncid, const Request& request, int* id) {
  auto boxes = request.geometry->boxes(request.first_record);
  const UserMemory& memory = *request.memory;
  Call call{request.direction, request.buffered, request.variable, {}, memory.argument()};
  call.access.imap = memory.imap();
  if (request.packed && request.direction == Direction::put) {
    call.memory = {request.packed.get(), static_cast<MPI_Offset>(request.geometry->elements()),
                   mpiio::mpi_type_of(request.type)};
    call.access.imap = nullptr;
  }
  if (boxes.start_of.size() == 1) {
    call.access.kind = Access::Kind::varm;
    call.access.start = boxes.starts.data();
    call.access.count = boxes.counts.data();
    call.access.stride = boxes.strides.empty() ? nullptr : boxes.strides.data();
  } else {
    call.access.kind = Access::Kind::varn;
    call.access.boxes = static_cast<int>(boxes.start_of.size());
    call.access.starts = boxes.start_of.data();
    call.access.counts = boxes.count_of.data();
  }
  return make_call(native_functions, posting(call), false, ncid, call, id);
}

}  // namespace slabmark::dropin
