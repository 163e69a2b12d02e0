#include "accel/pnetcdf_dropin/compressor_library.hpp"

#include <dlfcn.h>
#include <string>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/base/path.hpp"
#include "core/base/version.hpp"

namespace slabmark::dropin {

namespace {

constexpr const char* library_name = "libslabmark_compress.so";

/// Beside the drop-in, which may be preloaded from anywhere. The archive for programs with a static
/// PnetCDF is part of the program, and leaves the search to the dynamic linker.
std::string path_beside_us() {
  Dl_info us;
  if (dladdr(reinterpret_cast<void*>(&path_beside_us), &us) == 0 || us.dli_fname == nullptr) {
    return library_name;
  }
  return directory_of(us.dli_fname) + "/" + library_name;
}

// A program that has HDF5 shares it with the library, which refuses another version than its own.
// RTLD_DEEPBIND would keep them apart, but also MPI's handles, of which the program has copies.
constexpr int mode = RTLD_NOW | RTLD_LOCAL;

const Compressor& load() {
  void* library = dlopen(path_beside_us().c_str(), mode);
  if (library == nullptr) library = dlopen(library_name, mode);
  if (library == nullptr) {
    throw InputError(fmt::format("{} cannot be loaded ({}); install it beside the drop-in",
                                 library_name, dlerror()));
  }
  const auto function =
      reinterpret_cast<CompressorFunction*>(dlsym(library, "slabmark_compressor"));
  const Compressor* const found = function == nullptr ? nullptr : function();
  if (found != nullptr && found->version == version()) return *found;
  throw InputError(
      fmt::format("{} is of another Slabmark than the drop-in, {}; install both of one",
                  library_name, version()));
}

}  // namespace

const Compressor& compressor() {
  static const Compressor& loaded = load();
  return loaded;
}

}  // namespace slabmark::dropin
