#include "accel/pnetcdf_dropin/netcdf_file.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "storage/mpiio/element_type.hpp"
#include "storage/pnetcdf/calls/native.hpp"
#include "storage/pnetcdf/types/element_type.hpp"

namespace slabmark::dropin {

namespace {

#define SLABMARK_INQUIRY(function) \
  [](auto... arguments) { return SLABMARK_NATIVE(function)(arguments...); }

constexpr collective::NetcdfFunctions native_inquiries{
    .inq = SLABMARK_INQUIRY(ncmpi_inq),
    .inq_recsize = SLABMARK_INQUIRY(ncmpi_inq_recsize),
    .inq_dimlen = SLABMARK_INQUIRY(ncmpi_inq_dimlen),
    .inq_varndims = SLABMARK_INQUIRY(ncmpi_inq_varndims),
    .inq_vardimid = SLABMARK_INQUIRY(ncmpi_inq_vardimid),
    .inq_vartype = SLABMARK_INQUIRY(ncmpi_inq_vartype),
    .inq_varoffset = SLABMARK_INQUIRY(ncmpi_inq_varoffset)};

#undef SLABMARK_INQUIRY

}  // namespace

NetcdfFile::NetcdfFile(std::shared_ptr<RankGroup> group, Opening opening)
    : group_(std::move(group)),
      opening_(std::move(opening)),
      mode_(opening_.created ? Mode::define : Mode::collective),
      locator_(native_inquiries, opening_.ncid),
      pending_(opening_.copies),
      native_(opening_.ncid),
      data_(opening_.overlap) {
  report_.wanted = opening_.reports;
}

void NetcdfFile::enter(Mode mode) {
  if (mode_ == Mode::define) locator_.forget();
  mode_ = mode;
}

int NetcdfFile::post(std::unique_ptr<Request> request) {
  if (pending_.empty() && native_.may_restart_ids()) pending_.restart_ids();
  return pending_.add(std::move(request));
}

int NetcdfFile::pass_through(const Call& call, bool alone, int* id, FunctionRef<int(int*)> native) {
  // The attached buffer holds what is pending here, too, as far as PnetCDF is to know.
  if (call.buffered && pending_.has_buffered()) hand_over();
  const int goes_before = alone ? call.variable : every_variable;
  int native_id = NC_REQ_NULL;
  int error = native(&native_id);
  if (native_id != NC_REQ_NULL && pending_.any([&](const Request& request) {
        return !alone || request.is_put_of(call.variable);
      })) {
    SLABMARK_NATIVE(ncmpi_cancel)(opening_.ncid, 1, &native_id, static_cast<int*>(nullptr));
    hand_over(goes_before);
    error = native(&native_id);
  }
  if (native_id != NC_REQ_NULL) native_.note(goes_before);
  if (id) *id = native_id;
  return error;
}

// All go where a bput is among them: if two parties had parts of the buffer, neither would know
// which part is free again.
void NetcdfFile::hand_over(int puts_of) noexcept {
  const auto is_bput = [&](const Request& request) {
    return request.is_put_of(puts_of) && request.buffered;
  };
  if (pending_.any(is_bput)) puts_of = every_variable;
  const auto goes = [&](const Request& request) {
    return puts_of == every_variable || request.is_put_of(puts_of);
  };
  pending_.take(goes, [&](std::unique_ptr<Request> request) {
    native_.take_over(std::move(request));
    native_.note(puts_of);
  });
}

bool NetcdfFile::has_buffer_for(const Request& request) const {
  MPI_Offset size = 0, used = 0;
  return SLABMARK_NATIVE(ncmpi_inq_buffer_size)(opening_.ncid, &size) == NC_NOERR &&
         SLABMARK_NATIVE(ncmpi_inq_buffer_usage)(opening_.ncid, &used) == NC_NOERR &&
         static_cast<std::uint64_t>(used) + pending_.buffered_bytes() + request.bytes() <=
             static_cast<std::uint64_t>(size);
}

void NetcdfFile::copy_from_now_on(int variable) {
  pending_.memory().forget_change();
  if (!PutMemory::copy_all_from_now_on() || !group_->comm().is_root()) return;
  std::array<char, NC_MAX_NAME + 1> name{};
  SLABMARK_NATIVE(ncmpi_inq_varname)(opening_.ncid, variable, name.data());
  std::fprintf(
      stderr,
      "slabmark: %s: the memory of a put of '%s' was changed before ncmpi_wait_all, and the "
      "file holds what it was changed to. PnetCDF does not allow that; leave the memory "
      "alone until the wait, or set SLABMARK_DROPIN_COPY=always.\n",
      opening_.name.c_str(), name.data());
}

ArrayPlace NetcdfFile::place_of(ArrayName array) {
  const collective::NetcdfLocator::Variable& its =
      *locator_.variable(static_cast<int>(array.variable));
  const auto record = array.record == ArrayName::no_record ? 0 : array.record;
  return {locator_.offset(its, static_cast<std::uint64_t>(record)),
          size_of(*pnetcdf::element_type_of(its.type)), its.shape.elements()};
}

bool NetcdfFile::is_prepared() const {
  const collective::Context& context = group_->context;
  return context.is_prepared(opening_.settings) && (data_.is_open() || !context.is_aggregator());
}

// Others wait to hear of it, so nothing may be thrown.
bool NetcdfFile::prepare_here() try {
  if (is_prepared()) return true;
  if (!group_->context.is_prepared(opening_.settings)) return false;
  data_.open(opening_.data);
  return true;
} catch (...) {
  return false;
}

bool NetcdfFile::prepare() {
  if (no_data_file_) return false;
  group_->prepare(opening_.settings);
  no_data_file_ = group_->comm().any(!prepare_here());
  return !no_data_file_;
}

int NetcdfFile::settle() {
  if (!data_.has_pending()) return NC_NOERR;
  const DataFile::InUse now(data_);
  return lowest_code(group_->comm(), data_.settle(group_->comm()));
}

int NetcdfFile::sync() {
  const int earlier = settle();
  const DataFile::InUse now(data_);
  return std::min(earlier, data_.sync());
}

int NetcdfFile::close() {
  const int earlier = settle();
  const DataFile::InUse now(data_);
  return std::min(earlier, data_.close());
}

// PnetCDF enters the number of records into the header, on all ranks, when one is written: one
// element does. It is one of those that this wait writes anyway, since all others of the record may
// hold what was written through another handle of the file; and of one rank, since PnetCDF may read
// and write again what lies between elements of several. A wait enters the number also where
// writing fails, so that lower records that could be written are there.
int NetcdfFile::grow(const Request* last) {
  int id = NC_REQ_NULL, refused = NC_NOERR, status = NC_NOERR;
  if (last) {
    const auto& parts = last->geometry->parts();
    const Geometry::Part& part = parts.back();
    const Piece& piece = part.pieces.front();
    const auto& lengths = locator_.variable(last->variable)->shape.lengths;
    std::vector<MPI_Offset> index(lengths.size());
    MPI_Offset element = static_cast<MPI_Offset>(piece.file);
    for (std::size_t d = lengths.size(); d-- > 1; element /= lengths[d]) {
      index[d] = element % lengths[d];
    }
    index[0] = static_cast<MPI_Offset>(last->first_record + part.record);
    const std::byte* const value = last->posted().data + piece.buffer * size_of(last->type);
    refused = SLABMARK_NATIVE(ncmpi_iput_var1)(opening_.ncid, last->variable, index.data(), value,
                                               1, mpiio::mpi_type_of(last->type), &id);
  }
  const int error =
      SLABMARK_NATIVE(ncmpi_wait_all)(opening_.ncid, id == NC_REQ_NULL ? 0 : 1, &id, &status);
  const int worst = std::min({refused, error, status});
  if (last && worst == NC_NOERR) counted_twice_ += size_of(last->type);
  return worst;
}

}  // namespace slabmark::dropin
