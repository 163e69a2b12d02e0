// The functions that HDF5 asks a plugin for.
#include <dlfcn.h>

#include <H5PLextern.h>
#include <fmt/format.h>

#include "accel/hdf5_connector/connector/callbacks.hpp"

namespace {

/// The library that code is in; null where that cannot be said.
const void* library_of(const void* code, const char** name = nullptr) {
  Dl_info info{};
  if (dladdr(code, &info) == 0) return nullptr;
  if (name != nullptr) *name = info.dli_fname;
  return info.dli_fbase;
}

/// A program may bring an HDF5 of its own, as the wheels of h5py do. The objects of one library
/// mean nothing to another, and ours would look for this plugin once more.
bool is_called_by_ours(const void* caller) {
  const char* ours = nullptr;
  const char* others = nullptr;
  const auto* expected = library_of(reinterpret_cast<const void*>(&H5open), &ours);
  const auto* found = library_of(caller, &others);
  if (expected == nullptr || found == nullptr || expected == found) return true;
  fmt::print(stderr,
             "slablog: this program uses the HDF5 library '{}', but the connector works with '{}' "
             "only; build the program, or the package that brings its HDF5, with that one.\n",
             others, ours);
  return false;
}

}  // namespace

H5PL_type_t H5PLget_plugin_type() { return H5PL_TYPE_VOL; }

const void* H5PLget_plugin_info() {
  if (!is_called_by_ours(__builtin_return_address(0))) return nullptr;
  return &slabmark::slablog::connector_class();
}
