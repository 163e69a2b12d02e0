#include "logvol/plain_file.hpp"

#include <H5VLconnector_passthru.h>

#include <H5VLconnector.h>
#include <H5VLnative.h>
#include <fmt/format.h>

#include "base/error.hpp"

namespace slabmark::logvol {

namespace {

using hdf5::check;
using hdf5::own;

hdf5::Handle open(const std::string& path, unsigned flags) {
  const auto list = own(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "H5Pcreate", path);
  check(H5Pset_vol(list.get(), H5VL_NATIVE, nullptr), "H5Pset_vol", path);
  check(H5Pset_fapl_sec2(list.get()), "H5Pset_fapl_sec2", path);
  // From v110 on selections are kept compactly.
  check(H5Pset_libver_bounds(list.get(), H5F_LIBVER_V110, H5F_LIBVER_LATEST),
        "H5Pset_libver_bounds", path);
  // A writer that was killed leaves the mark of an open file, which would keep us out for ever.
  const bool clear = true;
  check(H5Pset(list.get(), "clear_status_flags", &clear), "H5Pset", path);
  return own(H5Fopen(path.c_str(), flags, list.get()), H5Fclose, "H5Fopen", path);
}

}  // namespace

// The context is what HDF5's calls for connectors need, and have only inside a connector's
// callback.
PlainFile::PlainFile(const std::string& path, unsigned flags) : file_(open(path, flags)) {
  check(H5VLopen_lib_context(&context_), "H5VLopen_lib_context", path);
}

PlainFile::~PlainFile() { H5VLclose_lib_context(context_); }

Location PlainFile::location() const { return {H5VLobject(get()), H5I_FILE, H5VL_NATIVE}; }

void PlainFile::flush() { check(H5Fflush(get(), H5F_SCOPE_GLOBAL), "H5Fflush", "the log"); }

void PlainFile::close() { check(H5Fclose(file_.release()), "H5Fclose", "the log"); }

void check_has_log(const PlainFile& file, const std::string& path) {
  if (link_exists(file.location(), log_group)) return;
  throw InputError(
      fmt::format("'{}' has no log; it was not written through the connector slablog.", path));
}

}  // namespace slabmark::logvol
