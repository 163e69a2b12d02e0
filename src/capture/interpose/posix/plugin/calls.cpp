// The C library's calls on files. Those of names with 64 in them are the same functions; so are the
// checked ones that programs call which were compiled with _FORTIFY_SOURCE.
#undef _FORTIFY_SOURCE  // its inline functions stand where ours go
#include <aio.h>
#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "capture/interpose/posix/tracked.hpp"

using namespace slabmark::capture;
using namespace slabmark::capture::posix;

namespace {

template <class Signature>
Signature* find(const char* name) {
  return reinterpret_cast<Signature*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

// The C library's function of that name and type, looked up once.
#define SLABMARK_NEXT(name, ...)                       \
  ([] {                                                \
    static const auto found = find<__VA_ARGS__>(name); \
    return found;                                      \
  }())

namespace {

off_t position_of(int descriptor) {
  return SLABMARK_NEXT("lseek", off_t(int, off_t, int))(descriptor, 0, SEEK_CUR);
}

/// Where what was just moved at the descriptor's own position began. (Asked for after the call: so
/// it holds for files that are appended to, and for descriptors that others share.)
off_t start_of(int descriptor, ssize_t bytes) {
  const int kept = errno;
  const off_t end = position_of(descriptor);
  errno = kept;
  ended_at(descriptor, end);
  return end - (bytes > 0 ? bytes : 0);
}

/// The same of what went to the end of the file, whatever offset the call named.
off_t start_of_appended(int descriptor, ssize_t bytes) {
  const int kept = errno;
  struct stat status {};
  fstat(descriptor, &status);
  errno = kept;
  return status.st_size - (bytes > 0 ? bytes : 0);
}

int flags_of(const char* mode) {
  const bool both = std::strchr(mode, '+') != nullptr;
  switch (mode[0]) {
    case 'r':
      return both ? O_RDWR : O_RDONLY;
    case 'a':
      return (both ? O_RDWR : O_WRONLY) | O_CREAT | O_APPEND;
    default:
      return (both ? O_RDWR : O_WRONLY) | O_CREAT | O_TRUNC;
  }
}

/// The path that a descriptor of openat stands for.
std::string whole_path(int folder, const char* path) {
  if (folder == AT_FDCWD || path[0] == '/') return path;
  char link[64];
  char target[4096];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
  const auto length = readlink(link, target, sizeof target - 1);
  return length < 0 ? path : std::string(target, static_cast<std::size_t>(length)) + "/" + path;
}

/// By a descriptor's own position.
template <class Move>
ssize_t move_on(const char* name, unsigned direction, int descriptor, const Move& move,
                std::span<const iovec> pieces = {}) {
  if (!is_tracked(descriptor)) return move();
  const Call call;
  const ssize_t bytes = move();
  if (call.is_user_call()) {
    moved(call, name, direction, descriptor, start_of(descriptor, bytes), bytes, pieces);
  }
  return bytes;
}

template <class Move>
ssize_t move_at(const char* name, unsigned direction, int descriptor, off_t offset,
                const Move& move, std::span<const iovec> pieces = {}) {
  if (!is_tracked(descriptor)) return move();
  const Call call;
  const ssize_t bytes = move();
  const bool is_appended = direction == writes && is_appended_to(descriptor);
  moved(call, name, direction, descriptor,
        is_appended ? start_of_appended(descriptor, bytes) : offset, bytes, pieces);
  return bytes;
}

/// A call that moves bytes of one of the descriptors and is not captured.
template <class Move>
auto counted(const char* name, std::initializer_list<int> descriptors, const Move& move) {
  bool is_any_tracked = false;
  for (const int descriptor : descriptors) is_any_tracked |= is_tracked(descriptor);
  const Call call;
  if (is_any_tracked && call.is_user_call()) count_uncaptured(name);
  return move();
}

int duplicate(int descriptor, int copy) {
  if (is_tracked(descriptor) && !is_other_process()) duplicated(descriptor, copy);
  return copy;
}

/// Where a descriptor becomes another one.
void replacing(int descriptor) {
  if (!is_tracked(descriptor) || is_other_process()) return;
  const Call call;
  closing(call, "close", descriptor);
}

/// After `descriptor` became `copy`, too, in place of what had that number.
int replaced(int descriptor, int copy) {
  if (copy >= 0 && copy != descriptor) replacing(copy);
  return duplicate(descriptor, copy);
}

/// `move` returns how many elements of `size` bytes it moved.
template <class Move>
std::size_t move_in_stream(const char* name, unsigned direction, std::size_t size,
                           std::FILE* stream, const Move& move) {
  if (!is_tracked(stream)) return move();
  const Call call;
  const off_t begin = ftello(stream);
  check(stream, begin);
  const std::size_t count = move();
  const int kept = errno;
  const off_t end = ftello(stream);
  errno = kept;
  const auto bytes = static_cast<ssize_t>(count * size);
  // Appended bytes begin elsewhere, and a read may end within an element.
  moved(call, name, direction, fileno(stream), direction == reads ? begin : end - bytes, bytes);
  expect(stream, end);
  return count;
}

/// Any other call on a descriptor, which returns 0 where it went well.
template <class Make>
int make(const char* name, const char* effect, int descriptor, const Make& make_it,
         std::initializer_list<std::int64_t> arguments = {}) {
  if (!is_tracked(descriptor)) return make_it();
  const Call call;
  const int status = make_it();
  called(call, name, effect, descriptor, status == 0, arguments);
  return status;
}

std::span<const iovec> pieces_of(const iovec* pieces, int count) {
  return {pieces, count > 0 ? static_cast<std::size_t>(count) : 0};
}

int open_by(const char* name, const char* path, int flags, mode_t mode, const void* caller) {
  const Call call;
  const int descriptor = find<int(const char*, int, ...)>(name)(path, flags, mode);
  opened(call, "open", descriptor, path, flags);
  if (is_tracked(descriptor)) count_hdf5_without_connector(caller);
  return descriptor;
}

int openat_by(const char* name, int folder, const char* path, int flags, mode_t mode) {
  const Call call;
  const int descriptor = find<int(int, const char*, int, ...)>(name)(folder, path, flags, mode);
  if (descriptor >= 0) opened(call, "open", descriptor, whole_path(folder, path).c_str(), flags);
  return descriptor;
}

std::FILE* fopen_by(const char* name, const char* path, const char* mode) {
  const Call call;
  std::FILE* const stream = find<std::FILE*(const char*, const char*)>(name)(path, mode);
  if (stream != nullptr) {
    opened(call, "fopen", fileno(stream), path, flags_of(mode), mode);
    if (is_tracked(stream)) expect(stream, ftello(stream));
  }
  return stream;
}

std::FILE* freopen_by(const char* name, const char* path, const char* mode, std::FILE* stream) {
  const Call call;
  if (is_tracked(stream)) {
    check(stream, ftello(stream));
    forget(stream);
    closing(call, "fclose", fileno(stream));
  }
  std::FILE* const made =
      find<std::FILE*(const char*, const char*, std::FILE*)>(name)(path, mode, stream);
  // Where the program's own input and output go is no data of it.
  if (made == nullptr || made == stdin || made == stdout || made == stderr) return made;
  if (path == nullptr) {
    if (call.is_user_call()) count_uncaptured("freopen without a path");
    return made;
  }
  opened(call, "fopen", fileno(made), path, flags_of(mode), mode);
  if (is_tracked(made)) expect(made, ftello(made));
  return made;
}

/// pwritev2() and preadv2(): an offset of -1 means the descriptor's position.
template <class Move>
ssize_t move_by_flags(const char* at_position, const char* at_offset, unsigned direction,
                      int descriptor, off_t offset, int flags, const Move& move,
                      std::span<const iovec> pieces) {
  if ((flags & RWF_APPEND) != 0 && offset != -1)
    return counted("pwritev2 with RWF_APPEND", {descriptor}, move);
  return offset == -1 ? move_on(at_position, direction, descriptor, move, pieces)
                      : move_at(at_offset, direction, descriptor, offset, move, pieces);
}

[[gnu::destructor]] void check_streams() { check_all(ftello); }

}  // namespace

#define SLABMARK_MODE(flags)                                        \
  mode_t mode = 0;                                                  \
  if (((flags)&O_CREAT) != 0 || ((flags)&O_TMPFILE) == O_TMPFILE) { \
    va_list list;                                                   \
    va_start(list, flags);                                          \
    mode = va_arg(list, mode_t);                                    \
    va_end(list);                                                   \
  }

#define SLABMARK_OPEN(name)                                                \
  int name(const char* path, int flags, ...) {                             \
    SLABMARK_MODE(flags)                                                   \
    return open_by(#name, path, flags, mode, __builtin_return_address(0)); \
  }
#define SLABMARK_OPENAT(name)                              \
  int name(int folder, const char* path, int flags, ...) { \
    SLABMARK_MODE(flags)                                   \
    return openat_by(#name, folder, path, flags, mode);    \
  }
#define SLABMARK_CREAT(name)                                                                       \
  int name(const char* path, mode_t mode) {                                                        \
    return open_by("open", path, O_CREAT | O_WRONLY | O_TRUNC, mode, __builtin_return_address(0)); \
  }
#define SLABMARK_PWRITE(name)                                                                      \
  ssize_t name(int descriptor, const void* data, std::size_t size, off_t offset) {                 \
    return move_at("pwrite", writes, descriptor, offset, [&] {                                     \
      return SLABMARK_NEXT(#name, ssize_t(int, const void*, std::size_t, off_t))(descriptor, data, \
                                                                                 size, offset);    \
    });                                                                                            \
  }
#define SLABMARK_PREAD(name)                                                                       \
  ssize_t name(int descriptor, void* data, std::size_t size, off_t offset) {                       \
    return move_at("pread", reads, descriptor, offset, [&] {                                       \
      return SLABMARK_NEXT(#name, ssize_t(int, void*, std::size_t, off_t))(descriptor, data, size, \
                                                                           offset);                \
    });                                                                                            \
  }
#define SLABMARK_VECTOR_AT(name, recorded, direction)                                             \
  ssize_t name(int descriptor, const iovec* pieces, int count, off_t offset) {                    \
    return move_at(                                                                               \
        recorded, direction, descriptor, offset,                                                  \
        [&] {                                                                                     \
          return SLABMARK_NEXT(#name, ssize_t(int, const iovec*, int, off_t))(descriptor, pieces, \
                                                                              count, offset);     \
        },                                                                                        \
        pieces_of(pieces, count));                                                                \
  }
#define SLABMARK_VECTOR(name, direction)                                                           \
  ssize_t name(int descriptor, const iovec* pieces, int count) {                                   \
    return move_on(                                                                                \
        #name, direction, descriptor,                                                              \
        [&] {                                                                                      \
          return SLABMARK_NEXT(#name, ssize_t(int, const iovec*, int))(descriptor, pieces, count); \
        },                                                                                         \
        pieces_of(pieces, count));                                                                 \
  }
#define SLABMARK_LSEEK(name)                                               \
  off_t name(int descriptor, off_t offset, int whence) noexcept {          \
    const auto next = SLABMARK_NEXT(#name, off_t(int, off_t, int));        \
    if (!is_tracked(descriptor)) return next(descriptor, offset, whence);  \
    const Call call;                                                       \
    const off_t position = next(descriptor, offset, whence);               \
    called(call, "lseek", "other", descriptor, position >= 0, {position}); \
    return position;                                                       \
  }
#define SLABMARK_FTRUNCATE(name)                                                                  \
  int name(int descriptor, off_t size) noexcept {                                                 \
    return make("ftruncate", "extent", descriptor,                                                \
                [&] { return SLABMARK_NEXT(#name, int(int, off_t))(descriptor, size); }, {size}); \
  }
#define SLABMARK_FOPEN(name) \
  std::FILE* name(const char* path, const char* mode) { return fopen_by(#name, path, mode); }
#define SLABMARK_SYNC(name)                                                  \
  int name(int descriptor) {                                                 \
    return make(#name, "flush", descriptor,                                  \
                [&] { return SLABMARK_NEXT(#name, int(int))(descriptor); }); \
  }
#define SLABMARK_FSEEK(name, type)                                                 \
  int name(std::FILE* stream, type offset, int whence) {                           \
    const auto next = SLABMARK_NEXT(#name, int(std::FILE*, type, int));            \
    if (!is_tracked(stream)) return next(stream, offset, whence);                  \
    const Call call;                                                               \
    check(stream, ftello(stream));                                                 \
    const int status = next(stream, offset, whence);                               \
    expect(stream, ftello(stream));                                                \
    called(call, "fseek", "other", fileno(stream), status == 0, {ftello(stream)}); \
    return status;                                                                 \
  }
#define SLABMARK_MMAP(name)                                                              \
  void* name(void* address, std::size_t size, int protection, int flags, int descriptor, \
             off_t offset) noexcept {                                                    \
    const bool is_written = (protection & PROT_WRITE) != 0 && (flags & MAP_SHARED) != 0; \
    if (is_tracked(descriptor)) {                                                        \
      const Call call;                                                                   \
      if (call.is_user_call())                                                           \
        count_uncaptured(is_written ? "mmap for writing" : "mmap for reading");          \
    }                                                                                    \
    return SLABMARK_NEXT(#name, void*(void*, std::size_t, int, int, int, off_t))(        \
        address, size, protection, flags, descriptor, offset);                           \
  }

#define SLABMARK_VECTOR_BY_FLAGS(name, at_position, at_offset, direction)                 \
  ssize_t name(int descriptor, const iovec* pieces, int count, off_t offset, int flags) { \
    return move_by_flags(                                                                 \
        at_position, at_offset, direction, descriptor, offset, flags,                     \
        [&] {                                                                             \
          return SLABMARK_NEXT(#name, ssize_t(int, const iovec*, int, off_t, int))(       \
              descriptor, pieces, count, offset, flags);                                  \
        },                                                                                \
        pieces_of(pieces, count));                                                        \
  }
// Copies between two descriptors.
#define SLABMARK_COPY(name, said, parameters, arguments)                                \
  ssize_t name parameters {                                                             \
    return counted(said, {from, to},                                                    \
                   [&] { return SLABMARK_NEXT(#name, ssize_t parameters) arguments; }); \
  }
#define SLABMARK_AIO(name, said, block)                                         \
  int name(block* request) noexcept {                                           \
    return counted(said, {request->aio_fildes},                                 \
                   [&] { return SLABMARK_NEXT(#name, int(block*))(request); }); \
  }
#define SLABMARK_AIO_LIST(name, block)                                                           \
  int name(int mode, block* const* requests, int length, sigevent* event) noexcept {             \
    for (int i = 0; i < length; ++i) {                                                           \
      if (requests[i] != nullptr)                                                                \
        counted("lio_listio", {requests[i]->aio_fildes}, [] { return 0; });                      \
    }                                                                                            \
    return SLABMARK_NEXT(#name, int(int, block* const*, int, sigevent*))(mode, requests, length, \
                                                                         event);                 \
  }
#define SLABMARK_FALLOCATE(name)                                                                \
  int name(int descriptor, off_t offset, off_t size) {                                          \
    return make(                                                                                \
        "posix_fallocate", "other", descriptor,                                                 \
        [&] { return SLABMARK_NEXT(#name, int(int, off_t, off_t))(descriptor, offset, size); }, \
        {offset, size});                                                                        \
  }
#define SLABMARK_FALLOCATE_MODE(name)                                                        \
  int name(int descriptor, int mode, off_t offset, off_t size) {                             \
    return make("fallocate", "other", descriptor,                                            \
                [&] {                                                                        \
                  return SLABMARK_NEXT(#name, int(int, int, off_t, off_t))(descriptor, mode, \
                                                                           offset, size);    \
                },                                                                           \
                {offset, size, mode});                                                       \
  }
#define SLABMARK_FREOPEN(name)                                             \
  std::FILE* name(const char* path, const char* mode, std::FILE* stream) { \
    return freopen_by(#name, path, mode, stream);                          \
  }
// The argument after the command is a number, a pointer or nothing; all come the same way.
#define SLABMARK_FCNTL(name)                                                                    \
  int name(int descriptor, int command, ...) {                                                  \
    va_list list;                                                                               \
    va_start(list, command);                                                                    \
    void* const argument = va_arg(list, void*);                                                 \
    va_end(list);                                                                               \
    const int result = SLABMARK_NEXT(#name, int(int, int, ...))(descriptor, command, argument); \
    const bool copies = command == F_DUPFD || command == F_DUPFD_CLOEXEC;                       \
    if (command == F_SETFL && result == 0 && !is_other_process())                               \
      flags_changed(descriptor, static_cast<int>(reinterpret_cast<std::intptr_t>(argument)));   \
    return copies ? duplicate(descriptor, result) : result;                                     \
  }
// The attribute as C's headers write it: to clang [[noreturn]] is another one, which they lack.
#define SLABMARK_EXIT(name, ...)                                \
  __attribute__((noreturn)) void name(int status) __VA_ARGS__ { \
    if (!is_other_process()) finish();                          \
    SLABMARK_NEXT(#name, void(int))(status);                    \
    __builtin_unreachable();                                    \
  }

extern "C" {

SLABMARK_OPEN(open)
SLABMARK_OPEN(open64)
SLABMARK_OPENAT(openat)
SLABMARK_OPENAT(openat64)
SLABMARK_CREAT(creat)
SLABMARK_CREAT(creat64)

int __open_2(const char* path, int flags) {
  return open_by("open", path, flags, 0, __builtin_return_address(0));
}
int __open64_2(const char* path, int flags) {
  return open_by("open", path, flags, 0, __builtin_return_address(0));
}
int __openat_2(int folder, const char* path, int flags) {
  return openat_by("openat", folder, path, flags, 0);
}
int __openat64_2(int folder, const char* path, int flags) {
  return openat_by("openat", folder, path, flags, 0);
}

int close(int descriptor) {
  const auto next = SLABMARK_NEXT("close", int(int));
  if (!is_tracked(descriptor) || is_other_process()) return next(descriptor);
  const Call call;
  closing(call, "close", descriptor);
  return next(descriptor);
}

int close_range(unsigned first, unsigned last, int flags) noexcept {
  constexpr int only_in_exec = 1 << 2;  // CLOSE_RANGE_CLOEXEC, which older headers lack
  const bool closes = (flags & only_in_exec) == 0;
  for (unsigned i = first; closes && i <= last && i < most_descriptors; ++i) {
    replacing(static_cast<int>(i));
  }
  return SLABMARK_NEXT("close_range", int(unsigned, unsigned, int))(first, last, flags);
}

void closefrom(int first) noexcept {
  for (int i = std::max(first, 0); i < most_descriptors; ++i) replacing(i);
  SLABMARK_NEXT("closefrom", void(int))(first);
}

int dup(int descriptor) noexcept {
  return duplicate(descriptor, SLABMARK_NEXT("dup", int(int))(descriptor));
}

int dup2(int descriptor, int wanted) noexcept {
  return replaced(descriptor, SLABMARK_NEXT("dup2", int(int, int))(descriptor, wanted));
}

int dup3(int descriptor, int wanted, int flags) noexcept {
  return replaced(descriptor, SLABMARK_NEXT("dup3", int(int, int, int))(descriptor, wanted, flags));
}

SLABMARK_FCNTL(fcntl)
SLABMARK_FCNTL(fcntl64)

ssize_t write(int descriptor, const void* data, std::size_t size) {
  return move_on("write", writes, descriptor, [&] {
    return SLABMARK_NEXT("write", ssize_t(int, const void*, std::size_t))(descriptor, data, size);
  });
}

ssize_t read(int descriptor, void* data, std::size_t size) {
  return move_on("read", reads, descriptor, [&] {
    return SLABMARK_NEXT("read", ssize_t(int, void*, std::size_t))(descriptor, data, size);
  });
}

ssize_t __read_chk(int descriptor, void* data, std::size_t size, std::size_t) {
  return read(descriptor, data, size);
}
ssize_t __pread_chk(int descriptor, void* data, std::size_t size, off_t offset, std::size_t) {
  return pread(descriptor, data, size, offset);
}
ssize_t __pread64_chk(int descriptor, void* data, std::size_t size, off_t offset, std::size_t) {
  return pread(descriptor, data, size, offset);
}

SLABMARK_PWRITE(pwrite)
SLABMARK_PWRITE(pwrite64)
SLABMARK_PREAD(pread)
SLABMARK_PREAD(pread64)
SLABMARK_VECTOR(writev, writes)
SLABMARK_VECTOR(readv, reads)
SLABMARK_VECTOR_AT(pwritev, "pwritev", writes)
SLABMARK_VECTOR_AT(pwritev64, "pwritev", writes)
SLABMARK_VECTOR_AT(preadv, "preadv", reads)
SLABMARK_VECTOR_AT(preadv64, "preadv", reads)
SLABMARK_VECTOR_BY_FLAGS(pwritev2, "writev", "pwritev", writes)
SLABMARK_VECTOR_BY_FLAGS(pwritev64v2, "writev", "pwritev", writes)
SLABMARK_VECTOR_BY_FLAGS(preadv2, "readv", "preadv", reads)
SLABMARK_VECTOR_BY_FLAGS(preadv64v2, "readv", "preadv", reads)
SLABMARK_COPY(sendfile, "sendfile", (int to, int from, off_t* offset, std::size_t size),
              (to, from, offset, size))
SLABMARK_COPY(sendfile64, "sendfile", (int to, int from, off_t* offset, std::size_t size),
              (to, from, offset, size))
SLABMARK_COPY(copy_file_range, "copy_file_range",
              (int from, off_t* at, int to, off_t* at_there, std::size_t size, unsigned flags),
              (from, at, to, at_there, size, flags))
SLABMARK_COPY(splice, "splice",
              (int from, off_t* at, int to, off_t* at_there, std::size_t size, unsigned flags),
              (from, at, to, at_there, size, flags))
SLABMARK_AIO(aio_write, "aio_write", aiocb)
SLABMARK_AIO(aio_write64, "aio_write", aiocb64)
SLABMARK_AIO(aio_read, "aio_read", aiocb)
SLABMARK_AIO(aio_read64, "aio_read", aiocb64)
SLABMARK_AIO_LIST(lio_listio, aiocb)
SLABMARK_AIO_LIST(lio_listio64, aiocb64)
SLABMARK_FALLOCATE(posix_fallocate)
SLABMARK_FALLOCATE(posix_fallocate64)
SLABMARK_FALLOCATE_MODE(fallocate)
SLABMARK_FALLOCATE_MODE(fallocate64)
SLABMARK_LSEEK(lseek)
SLABMARK_LSEEK(lseek64)
SLABMARK_FTRUNCATE(ftruncate)
SLABMARK_FTRUNCATE(ftruncate64)
SLABMARK_SYNC(fsync)
SLABMARK_SYNC(fdatasync)
SLABMARK_MMAP(mmap)
SLABMARK_MMAP(mmap64)

int rename(const char* from, const char* to) noexcept {
  const int status = SLABMARK_NEXT("rename", int(const char*, const char*))(from, to);
  if (status == 0 && !is_other_process()) renamed(from);
  return status;
}
int renameat(int folder, const char* from, int other, const char* to) noexcept {
  const auto next = SLABMARK_NEXT("renameat", int(int, const char*, int, const char*));
  const int status = next(folder, from, other, to);
  if (status == 0 && !is_other_process()) renamed(whole_path(folder, from).c_str());
  return status;
}

SLABMARK_FOPEN(fopen)
SLABMARK_FOPEN(fopen64)
SLABMARK_FREOPEN(freopen)
SLABMARK_FREOPEN(freopen64)

std::FILE* fdopen(int descriptor, const char* mode) noexcept {
  std::FILE* const stream =
      SLABMARK_NEXT("fdopen", std::FILE * (int, const char*))(descriptor, mode);
  if (stream != nullptr && is_tracked(descriptor)) expect(stream, ftello(stream));
  return stream;
}

SLABMARK_FSEEK(fseek, long)
SLABMARK_FSEEK(fseeko, off_t)
SLABMARK_FSEEK(fseeko64, off_t)

std::size_t fwrite(const void* data, std::size_t size, std::size_t count, std::FILE* stream) {
  const auto next =
      SLABMARK_NEXT("fwrite", std::size_t(const void*, std::size_t, std::size_t, std::FILE*));
  return move_in_stream("fwrite", writes, size, stream,
                        [&] { return next(data, size, count, stream); });
}

std::size_t fread(void* data, std::size_t size, std::size_t count, std::FILE* stream) {
  const auto next =
      SLABMARK_NEXT("fread", std::size_t(void*, std::size_t, std::size_t, std::FILE*));
  return move_in_stream("fread", reads, size, stream,
                        [&] { return next(data, size, count, stream); });
}

std::size_t __fread_chk(void* data, std::size_t, std::size_t size, std::size_t count,
                        std::FILE* stream) {
  return fread(data, size, count, stream);
}

// They end a process without the end of its libraries.
SLABMARK_EXIT(_exit)
SLABMARK_EXIT(_Exit, noexcept)
__attribute__((noreturn)) void abort() noexcept {
  if (!is_other_process()) flush();
  SLABMARK_NEXT("abort", void())();
  __builtin_unreachable();
}

int fflush(std::FILE* stream) {
  const auto next = SLABMARK_NEXT("fflush", int(std::FILE*));
  if (stream == nullptr || !is_tracked(stream)) return next(stream);
  const Call call;
  check(stream, ftello(stream));
  const int status = next(stream);
  called(call, "fflush", "flush", fileno(stream), status == 0);
  return status;
}

int fclose(std::FILE* stream) {
  const auto next = SLABMARK_NEXT("fclose", int(std::FILE*));
  if (!is_tracked(stream)) return next(stream);
  const Call call;
  check(stream, ftello(stream));
  forget(stream);
  closing(call, "fclose", fileno(stream));
  return next(stream);
}

}  // extern "C"
