// Calls that move no data, and those by an MPI datatype of the file.
#include "capture/interpose/pnetcdf/calls.hpp"
#include "capture/interpose/pnetcdf/captured_file.hpp"
#include "storage/pnetcdf/calls/native.hpp"

using namespace slabmark::capture;

namespace {

/// Makes PnetCDF's own call, and has it recorded as one of the file where it succeeds.
template <class Native, class Record>
int marked(int ncid, const Native& native, const Record& record) {
  const Call guard;
  CapturedFile* const file = guard.is_user_call() ? captured_file(ncid) : nullptr;
  const int error = native();
  if (file && error == NC_NOERR) noted([&] { record(*file); });
  return error;
}

template <class Native>
int opening(MPI_Comm comm, const char* path, int mode, MPI_Info info, int* ncid, bool is_new,
            const Native& native) {
  const Call guard;
  const int error = native();
  // A file is opened also where PnetCDF warns, and then has a number.
  if (guard.is_user_call() &&
      (error == NC_NOERR || error == NC_EMULTIDEFINE_OMODE || error == NC_EMULTIDEFINE_CMODE)) {
    noted([&] { add_captured_file(*ncid, comm, path, mode, info, is_new); });
  }
  return error;
}

template <class Native>
int closing(int ncid, const char* name, const Native& native) {
  const Call guard;
  CapturedFile* const file = guard.is_user_call() ? captured_file(ncid) : nullptr;
  const int error = native();
  if (file) {
    noted([&] {
      file->mark(name, "close", error == NC_NOERR ? collective : collective | failed);
      remove_captured_file(ncid);
    });
  }
  return error;
}

}  // namespace

extern "C" {

int ncmpi_create(MPI_Comm comm, const char* path, int mode, MPI_Info info, int* ncid) {
  return opening(comm, path, mode, info, ncid, true,
                 [&] { return SLABMARK_NATIVE(ncmpi_create)(comm, path, mode, info, ncid); });
}

int ncmpi_open(MPI_Comm comm, const char* path, int mode, MPI_Info info, int* ncid) {
  return opening(comm, path, mode, info, ncid, false,
                 [&] { return SLABMARK_NATIVE(ncmpi_open)(comm, path, mode, info, ncid); });
}

int ncmpi_close(int ncid) {
  return closing(ncid, "ncmpi_close", [&] { return SLABMARK_NATIVE(ncmpi_close)(ncid); });
}

int ncmpi_abort(int ncid) {
  return closing(ncid, "ncmpi_abort", [&] { return SLABMARK_NATIVE(ncmpi_abort)(ncid); });
}

int ncmpi_enddef(int ncid) {
  return marked(
      ncid, [&] { return SLABMARK_NATIVE(ncmpi_enddef)(ncid); },
      [&](CapturedFile& file) { file.define("ncmpi_enddef", {}); });
}

int ncmpi__enddef(int ncid, MPI_Offset header_free, MPI_Offset variable_align,
                  MPI_Offset variable_free, MPI_Offset record_align) {
  return marked(
      ncid,
      [&] {
        return SLABMARK_NATIVE(ncmpi__enddef)(ncid, header_free, variable_align, variable_free,
                                              record_align);
      },
      [&](CapturedFile& file) {
        const std::int64_t arguments[] = {header_free, variable_align, variable_free, record_align};
        file.define("ncmpi__enddef", arguments);
      });
}

#define SLABMARK_OF_ALL_RANKS(name, effect)                                 \
  int name(int ncid) {                                                      \
    return marked(                                                          \
        ncid, [&] { return SLABMARK_NATIVE(name)(ncid); },                  \
        [&](CapturedFile& file) { file.mark(#name, effect, collective); }); \
  }
SLABMARK_OF_ALL_RANKS(ncmpi_redef, "define")
SLABMARK_OF_ALL_RANKS(ncmpi_begin_indep_data, "other")
SLABMARK_OF_ALL_RANKS(ncmpi_end_indep_data, "other")
SLABMARK_OF_ALL_RANKS(ncmpi_sync, "flush")
SLABMARK_OF_ALL_RANKS(ncmpi_sync_numrecs, "other")
SLABMARK_OF_ALL_RANKS(ncmpi_flush, "flush")

int ncmpi_buffer_attach(int ncid, MPI_Offset bytes) {
  return marked(
      ncid, [&] { return SLABMARK_NATIVE(ncmpi_buffer_attach)(ncid, bytes); },
      [&](CapturedFile& file) {
        const std::int64_t arguments[] = {bytes};
        file.mark("ncmpi_buffer_attach", "other", 0, arguments);
      });
}

int ncmpi_buffer_detach(int ncid) {
  return marked(
      ncid, [&] { return SLABMARK_NATIVE(ncmpi_buffer_detach)(ncid); },
      [&](CapturedFile& file) { file.mark("ncmpi_buffer_detach", "other"); });
}

#define SLABMARK_VARD(direction, suffix, constness, flags)                                        \
  int ncmpi_##direction##_vard##suffix(int ncid, int varid, MPI_Datatype filetype,                \
                                       constness void* buffer, MPI_Offset count,                  \
                                       MPI_Datatype type) {                                       \
    const auto native = [&] {                                                                     \
      return SLABMARK_NATIVE(ncmpi_##direction##_vard##suffix)(ncid, varid, filetype, buffer,     \
                                                               count, type);                      \
    };                                                                                            \
    return move_by_filetype(ncid, "ncmpi_" #direction "_vard" #suffix,                            \
                            {slabmark::pnetcdf::Direction::direction,                             \
                             false,                                                               \
                             varid,                                                               \
                             {},                                                                  \
                             {const_cast<void*>(static_cast<const void*>(buffer)), count, type}}, \
                            filetype, flags, native);                                             \
  }
SLABMARK_VARD(put, , const, 0)
SLABMARK_VARD(put, _all, const, collective)
SLABMARK_VARD(get, , , 0)
SLABMARK_VARD(get, _all, , collective)

int ncmpi_wait_all(int ncid, int count, int* ids, int* statuses) {
  const auto native = [&] { return SLABMARK_NATIVE(ncmpi_wait_all)(ncid, count, ids, statuses); };
  return wait(ncid, "ncmpi_wait_all", collective, count, ids, native);
}

int ncmpi_wait(int ncid, int count, int* ids, int* statuses) {
  const auto native = [&] { return SLABMARK_NATIVE(ncmpi_wait)(ncid, count, ids, statuses); };
  return wait(ncid, "ncmpi_wait", 0, count, ids, native);
}

int ncmpi_cancel(int ncid, int count, int* ids, int* statuses) {
  const auto native = [&] { return SLABMARK_NATIVE(ncmpi_cancel)(ncid, count, ids, statuses); };
  return wait(ncid, "ncmpi_cancel", cancels, count, ids, native);
}

int ncmpi_set_fill(int ncid, int mode, int* old_mode) {
  return marked(
      ncid, [&] { return SLABMARK_NATIVE(ncmpi_set_fill)(ncid, mode, old_mode); },
      [&](CapturedFile& file) {
        const std::int64_t arguments[] = {mode};
        file.mark("ncmpi_set_fill", "define", collective, arguments);
      });
}

int ncmpi_fill_var_rec(int ncid, int varid, MPI_Offset record) {
  return marked(
      ncid, [&] { return SLABMARK_NATIVE(ncmpi_fill_var_rec)(ncid, varid, record); },
      [&](CapturedFile& file) {
        const std::int64_t arguments[] = {record};
        if (const CapturedVariable* const variable = file.variable(varid)) {
          file.mark("ncmpi_fill_var_rec", "other", collective, arguments, variable->dataset);
        }
      });
}

}  // extern "C"
