#include "accel/hdf5_connector/log/plain_file.hpp"

#include <H5VLconnector_passthru.h>

#include <H5VLconnector.h>
#include <H5VLnative.h>
#include <fmt/format.h>

#include "accel/hdf5_connector/journal/driver.hpp"
#include "core/base/error.hpp"

namespace slabmark::slablog {

using hdf5::check;
using hdf5::own;

hdf5::Handle open_plainly(const std::string& path, unsigned flags, Journal* journal) {
  posix::File::open_input(path, "log file");  // HDF5 would wait for ever for the writer of a pipe
  const auto list = own(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "H5Pcreate", path);
  check(H5Pset_vol(list.get(), H5VL_NATIVE, nullptr), "H5Pset_vol", path);
  check(H5Pset_fapl_sec2(list.get()), "H5Pset_fapl_sec2", path);
  if (H5Fis_accessible(path.c_str(), list.get()) == 0) {
    throw InputError(
        fmt::format("'{}' is no HDF5 file; name one that was written through slablog.", path));
  }
  if (journal != nullptr) keep_journal(list.get(), journal);
  // The format that installed tools read, in object headers too.
  check(H5Pset_libver_bounds(list.get(), H5F_LIBVER_V110, H5F_LIBVER_LATEST),
        "H5Pset_libver_bounds", path);
  // HDF5 goes on without a lock where errno is ENOSYS, and fails with all others.
  if (posix::File::open(path, posix::File::Access::read).try_lock(true) ==
      posix::File::Lock::unsupported) {
    check(H5Pset_file_locking(list.get(), false, true), "H5Pset_file_locking", path);
  }
  // A writer that was killed leaves the mark of an open file, which would keep us out for ever.
  const bool clear = true;
  check(H5Pset(list.get(), "clear_status_flags", &clear), "H5Pset", path);
  return own(H5Fopen(path.c_str(), flags, list.get()), H5Fclose, "H5Fopen", path);
}

#if H5_VERSION_GE(2, 0, 0)
LibraryContext::LibraryContext() {
  check(H5VLopen_lib_context(&context_), "H5VLopen_lib_context", "the log");
}

LibraryContext::~LibraryContext() { H5VLclose_lib_context(context_); }
#else  // the same under another name, and without a handle
LibraryContext::LibraryContext() { check(H5VLstart_lib_state(), "H5VLstart_lib_state", "the log"); }

LibraryContext::~LibraryContext() { H5VLfinish_lib_state(); }
#endif

Location location_of(const hdf5::Handle& file) {
  return {H5VLobject(file.get()), H5I_FILE, H5VL_NATIVE};
}

void check_has_log(const Location& location, const std::string& path) {
  if (link_exists(location, log_group)) return;
  throw InputError(
      fmt::format("'{}' has no log; it was not written through the connector slablog.", path));
}

}  // namespace slabmark::slablog
