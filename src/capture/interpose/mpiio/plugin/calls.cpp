// MPI's calls on files, each with what follows it in a profiler that is preloaded after us, or
// MPI's own.
#include "capture/interpose/mpiio/open_file.hpp"
#include "capture/interpose/world/world.hpp"

using namespace slabmark::capture;

// The function after ours, looked up once.
#define SLABMARK_NEXT(name)                         \
  ([] {                                             \
    static const auto found = next(#name, P##name); \
    return found;                                   \
  }())

// A call that moves elements: its name without and with what stands behind it for large counts
// (they are the same call to the pattern), its flags, its pointer, its parameters but the file, and
// which of them say where, how many, of what, and the request.
#define SLABMARK_MOVE(name, c, flags, pointer, parameters, arguments, offset, count, type, \
                      request)                                                             \
  int name##c(MPI_File file, SLABMARK_UNPACK parameters) {                                 \
    const Call call;                                                                       \
    Transfer transfer(call, file, Pointer::pointer, offset, count, type);                  \
    const int error = SLABMARK_NEXT(name##c)(file, SLABMARK_UNPACK arguments);             \
    transfer.done(#name, flags, error, request);                                           \
    return error;                                                                          \
  }

#define SLABMARK_UNPACK(...) __VA_ARGS__

// For each direction, and each kind of counts: the calls by explicit offset, by this process's
// pointer, by the shared one.
#define SLABMARK_FAMILY(verb, c, Count, direction, buffer)                                         \
  SLABMARK_MOVE(                                                                                   \
      MPI_File_##verb##_at, c, direction, explicitly,                                              \
      (MPI_Offset offset, buffer data, Count count, MPI_Datatype type, MPI_Status * status),       \
      (offset, data, count, type, status), offset, count, type, nullptr)                           \
  SLABMARK_MOVE(                                                                                   \
      MPI_File_##verb##_at_all, c, direction | collective, explicitly,                             \
      (MPI_Offset offset, buffer data, Count count, MPI_Datatype type, MPI_Status * status),       \
      (offset, data, count, type, status), offset, count, type, nullptr)                           \
  SLABMARK_MOVE(                                                                                   \
      MPI_File_i##verb##_at, c, direction | nonblocking, explicitly,                               \
      (MPI_Offset offset, buffer data, Count count, MPI_Datatype type, MPI_Request * request),     \
      (offset, data, count, type, request), offset, count, type, request)                          \
  SLABMARK_MOVE(                                                                                   \
      MPI_File_i##verb##_at_all, c, direction | collective | nonblocking, explicitly,              \
      (MPI_Offset offset, buffer data, Count count, MPI_Datatype type, MPI_Request * request),     \
      (offset, data, count, type, request), offset, count, type, request)                          \
  SLABMARK_MOVE(MPI_File_##verb##_at_all_begin, c, direction | collective, explicitly,             \
                (MPI_Offset offset, buffer data, Count count, MPI_Datatype type),                  \
                (offset, data, count, type), offset, count, type, nullptr)                         \
  SLABMARK_BY_POINTER(MPI_File_##verb, c, Count, direction, individual, buffer)                    \
  SLABMARK_BY_POINTER(MPI_File_##verb##_all, c, Count, direction | collective, individual, buffer) \
  SLABMARK_BY_POINTER(MPI_File_##verb##_shared, c, Count, direction, shared, buffer)               \
  SLABMARK_BY_POINTER(MPI_File_##verb##_ordered, c, Count, direction | collective, ordered,        \
                      buffer)                                                                      \
  SLABMARK_BEGUN(MPI_File_##verb##_all_begin, c, Count, direction, individual, buffer)             \
  SLABMARK_BEGUN(MPI_File_##verb##_ordered_begin, c, Count, direction, ordered, buffer)            \
  SLABMARK_POSTED(MPI_File_i##verb, c, Count, direction, individual, buffer)                       \
  SLABMARK_POSTED(MPI_File_i##verb##_all, c, Count, direction | collective, individual, buffer)    \
  SLABMARK_POSTED(MPI_File_i##verb##_shared, c, Count, direction, shared, buffer)

#define SLABMARK_BY_POINTER(name, c, Count, flags, pointer, buffer)                 \
  SLABMARK_MOVE(name, c, flags, pointer,                                            \
                (buffer data, Count count, MPI_Datatype type, MPI_Status * status), \
                (data, count, type, status), 0, count, type, nullptr)

#define SLABMARK_BEGUN(name, c, Count, direction, pointer, buffer)                            \
  SLABMARK_MOVE(name, c, direction | collective, pointer,                                     \
                (buffer data, Count count, MPI_Datatype type), (data, count, type), 0, count, \
                type, nullptr)

#define SLABMARK_POSTED(name, c, Count, flags, pointer, buffer)                       \
  SLABMARK_MOVE(name, c, flags | nonblocking, pointer,                                \
                (buffer data, Count count, MPI_Datatype type, MPI_Request * request), \
                (data, count, type, request), 0, count, type, request)

#define SLABMARK_ENDS(verb, buffer)     \
  SLABMARK_ENDED(verb, _at_all, buffer) \
  SLABMARK_ENDED(verb, _all, buffer)    \
  SLABMARK_ENDED(verb, _ordered, buffer)

#define SLABMARK_ENDED(verb, how, buffer)                                            \
  int MPI_File_##verb##how##_end(MPI_File file, buffer data, MPI_Status* status) {   \
    const Call call;                                                                 \
    const int error = SLABMARK_NEXT(MPI_File_##verb##how##_end)(file, data, status); \
    called(call, "MPI_File_" #verb #how "_end", "other", file, error);               \
    return error;                                                                    \
  }

extern "C" {

int MPI_File_open(MPI_Comm comm, const char* path, int mode, MPI_Info info, MPI_File* file) {
  wrap_init();
  const Call call;
  const int error = SLABMARK_NEXT(MPI_File_open)(comm, path, mode, info, file);
  opened(call, comm, path, mode, info, error, error == MPI_SUCCESS ? *file : MPI_FILE_NULL);
  if (call.is_user_call()) count_hdf5_without_connector(__builtin_return_address(0));
  return error;
}

int MPI_File_close(MPI_File* file) {
  const Call call;
  const MPI_File given = *file;
  const int error = SLABMARK_NEXT(MPI_File_close)(file);
  closed(call, given, error);
  return error;
}

int MPI_File_delete(const char* path, MPI_Info info) {
  const Call call;
  if (call.is_user_call()) count_uncaptured("MPI_File_delete");
  return SLABMARK_NEXT(MPI_File_delete)(path, info);
}

int MPI_File_set_view(MPI_File file, MPI_Offset displacement, MPI_Datatype etype,
                      MPI_Datatype filetype, const char* representation, MPI_Info info) {
  const Call call;
  const int error =
      SLABMARK_NEXT(MPI_File_set_view)(file, displacement, etype, filetype, representation, info);
  view_set(call, file, displacement, etype, filetype, representation, error);
  return error;
}

int MPI_File_set_size(MPI_File file, MPI_Offset size) {
  const Call call;
  const int error = SLABMARK_NEXT(MPI_File_set_size)(file, size);
  called(call, "MPI_File_set_size", "extent", file, error, {size});
  return error;
}

int MPI_File_preallocate(MPI_File file, MPI_Offset size) {
  const Call call;
  const int error = SLABMARK_NEXT(MPI_File_preallocate)(file, size);
  called(call, "MPI_File_preallocate", "other", file, error, {size});
  return error;
}

int MPI_File_set_info(MPI_File file, MPI_Info info) {
  const Call call;
  const int error = SLABMARK_NEXT(MPI_File_set_info)(file, info);
  const auto hints = slabmark::Json{{"kind", "hints"}, {"hints", hints_of(info)}};
  called(call, "MPI_File_set_info", "other", file, error, {}, define(text_of(hints)));
  return error;
}

int MPI_File_set_atomicity(MPI_File file, int flag) {
  const Call call;
  const int error = SLABMARK_NEXT(MPI_File_set_atomicity)(file, flag);
  called(call, "MPI_File_set_atomicity", "other", file, error, {flag});
  return error;
}

int MPI_File_seek(MPI_File file, MPI_Offset offset, int whence) {
  const Call call;
  const int error = SLABMARK_NEXT(MPI_File_seek)(file, offset, whence);
  MPI_Offset position = 0;  // from the start of the view, whatever the program counted from
  if (call.is_user_call()) PMPI_File_get_position(file, &position);
  called(call, "MPI_File_seek", "other", file, error, {position});
  return error;
}

int MPI_File_seek_shared(MPI_File file, MPI_Offset offset, int whence) {
  const Call call;
  const int error = SLABMARK_NEXT(MPI_File_seek_shared)(file, offset, whence);
  MPI_Offset position = 0;
  if (call.is_user_call()) PMPI_File_get_position_shared(file, &position);
  called(call, "MPI_File_seek_shared", "other", file, error, {position});
  return error;
}

int MPI_File_sync(MPI_File file) {
  const Call call;
  const int error = SLABMARK_NEXT(MPI_File_sync)(file);
  called(call, "MPI_File_sync", "flush", file, error);
  return error;
}

SLABMARK_FAMILY(write, , int, unsigned{writes}, const void*)
SLABMARK_FAMILY(read, , int, unsigned{reads}, void*)
#if MPI_VERSION >= 4
SLABMARK_FAMILY(write, _c, MPI_Count, unsigned{writes}, const void*)
SLABMARK_FAMILY(read, _c, MPI_Count, unsigned{reads}, void*)
#endif
SLABMARK_ENDS(write, const void*)
SLABMARK_ENDS(read, void*)

}  // extern "C"
