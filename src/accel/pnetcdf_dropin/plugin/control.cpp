// Calls that move no data but that requests must be in order with.
#include <string>

#include "accel/pnetcdf_dropin/calls.hpp"
#include "accel/pnetcdf_dropin/compressed_files.hpp"
#include "accel/pnetcdf_dropin/netcdf_file.hpp"
#include "accel/pnetcdf_dropin/open_files.hpp"
#include "core/base/function_ref.hpp"
#include "storage/pnetcdf/calls/native.hpp"

using namespace slabmark::dropin;

namespace {

/// The file is in `mode` after PnetCDF's own call, unless that returned an error.
int change_mode(int ncid, NetcdfFile::Mode mode, int error) {
  NetcdfFile* const file = open_file(ncid);
  if (file && error == NC_NOERR) file->enter(mode);
  return error;
}

template <class Open>
int open_with(MPI_Comm comm, const char* path, int mode, MPI_Info info, int* ncid, bool creates,
              const Open& native) {
  if (slabmark::pnetcdf::inside_native()) return native(comm, path, mode, info, ncid);
  opening(path);
  CompressedOpening compressed(comm, path, mode, info, creates);
  const int error = native(comm, compressed.path(), mode, info, ncid);
  opened(comm, path, compressed.path(), info, mode, creates, error, ncid);
  compressed.finish(error, ncid);
  return error;
}

/// Makes PnetCDF's own call behind all that is pending, since what follows reads and writes data.
int change_mode(int ncid, NetcdfFile::Mode mode, slabmark::FunctionRef<int()> native) {
  return unsupported(ncid, [&] { return change_mode(ncid, mode, native()); });
}

}  // namespace

extern "C" {

int ncmpi_create(MPI_Comm comm, const char* path, int mode, MPI_Info info, int* ncid) {
  return open_with(comm, path, mode, info, ncid, true, SLABMARK_NATIVE(ncmpi_create));
}

int ncmpi_open(MPI_Comm comm, const char* path, int mode, MPI_Info info, int* ncid) {
  return open_with(comm, path, mode, info, ncid, false, SLABMARK_NATIVE(ncmpi_open));
}

int ncmpi_close(int ncid) {
  const auto native = [&] { return SLABMARK_NATIVE(ncmpi_close)(ncid); };
  return close_compressible(ncid, close(ncid, native));
}

int ncmpi_abort(int ncid) {
  const auto native = [&] { return SLABMARK_NATIVE(ncmpi_abort)(ncid); };
  return close_compressible(ncid, close(ncid, native));
}

int ncmpi_inq_path(int ncid, int* length, char* path) {
  const std::string* const name = name_for_program(ncid);
  if (!name) return SLABMARK_NATIVE(ncmpi_inq_path)(ncid, length, path);
  if (length) *length = static_cast<int>(name->size());
  if (path) path[name->copy(path, name->size())] = '\0';
  return NC_NOERR;
}

int ncmpi_enddef(int ncid) {
  return change_mode(ncid, NetcdfFile::Mode::collective, SLABMARK_NATIVE(ncmpi_enddef)(ncid));
}

int ncmpi__enddef(int ncid, MPI_Offset header_free, MPI_Offset variable_align,
                  MPI_Offset variable_free, MPI_Offset record_align) {
  return change_mode(ncid, NetcdfFile::Mode::collective,
                     SLABMARK_NATIVE(ncmpi__enddef)(ncid, header_free, variable_align,
                                                    variable_free, record_align));
}

int ncmpi_redef(int ncid) {
  return change_mode(ncid, NetcdfFile::Mode::define,
                     [&] { return SLABMARK_NATIVE(ncmpi_redef)(ncid); });
}

int ncmpi_begin_indep_data(int ncid) {
  if (NetcdfFile* const file = open_file(ncid)) file->hand_over();
  return change_mode(ncid, NetcdfFile::Mode::independent,
                     [&] { return SLABMARK_NATIVE(ncmpi_begin_indep_data)(ncid); });
}

int ncmpi_end_indep_data(int ncid) {
  return change_mode(ncid, NetcdfFile::Mode::collective,
                     SLABMARK_NATIVE(ncmpi_end_indep_data)(ncid));
}

int ncmpi_sync(int ncid) {
  // PnetCDF's comes last: after it all ranks find on the disk what the others wrote.
  NetcdfFile* const file = open_file(ncid);
  const int stored = file && file->mode() != NetcdfFile::Mode::define ? file->sync() : NC_NOERR;
  const int error = SLABMARK_NATIVE(ncmpi_sync)(ncid);
  return error != NC_NOERR ? error : stored;
}

int ncmpi_fill_var_rec(int ncid, int variable, MPI_Offset record) {
  return unsupported(ncid,
                     [&] { return SLABMARK_NATIVE(ncmpi_fill_var_rec)(ncid, variable, record); });
}

int ncmpi_put_vard_all(int ncid, int variable, MPI_Datatype file_type, const void* memory,
                       MPI_Offset count, MPI_Datatype type) {
  return unsupported(ncid, [&] {
    return SLABMARK_NATIVE(ncmpi_put_vard_all)(ncid, variable, file_type, memory, count, type);
  });
}

int ncmpi_get_vard_all(int ncid, int variable, MPI_Datatype file_type, void* memory,
                       MPI_Offset count, MPI_Datatype type) {
  return unsupported(ncid, [&] {
    return SLABMARK_NATIVE(ncmpi_get_vard_all)(ncid, variable, file_type, memory, count, type);
  });
}

int ncmpi_inq_nreqs(int ncid, int* count) {
  const int error = SLABMARK_NATIVE(ncmpi_inq_nreqs)(ncid, count);
  NetcdfFile* const file = open_file(ncid);
  if (file && count && error == NC_NOERR) *count += file->pending().count();
  return error;
}

int ncmpi_inq_buffer_usage(int ncid, MPI_Offset* bytes) {
  const int error = SLABMARK_NATIVE(ncmpi_inq_buffer_usage)(ncid, bytes);
  NetcdfFile* const file = open_file(ncid);
  if (file && bytes && error == NC_NOERR)
    *bytes += static_cast<MPI_Offset>(file->pending().buffered_bytes());
  return error;
}

int ncmpi_buffer_detach(int ncid) {
  // PnetCDF refuses while a bput is pending.
  NetcdfFile* const file = open_file(ncid);
  if (file && file->pending().buffered_bytes() > 0) file->hand_over();
  return SLABMARK_NATIVE(ncmpi_buffer_detach)(ncid);
}

int ncmpi_inq_put_size(int ncid, MPI_Offset* bytes) {
  const int error = SLABMARK_NATIVE(ncmpi_inq_put_size)(ncid, bytes);
  NetcdfFile* const file = open_file(ncid);
  if (file && bytes && error == NC_NOERR) *bytes += file->put_bytes();
  return error;
}

int ncmpi_inq_get_size(int ncid, MPI_Offset* bytes) {
  const int error = SLABMARK_NATIVE(ncmpi_inq_get_size)(ncid, bytes);
  NetcdfFile* const file = open_file(ncid);
  if (file && bytes && error == NC_NOERR) *bytes += file->got_bytes();
  return error;
}

}  // extern "C"
