#include "storage/pnetcdf/calls/native.hpp"

#include <cstring>
#include <dlfcn.h>
#include <link.h>

// Finds a function of a PnetCDF that is linked in statically. Only the archive for such programs
// defines it (cmake/SlabmarkWrap.cmake).
extern "C" [[gnu::weak, gnu::visibility("hidden")]] void* slabmark_linked_pnetcdf(const char* name);

namespace slabmark::pnetcdf {

namespace {

thread_local int calls_under_way = 0;

/// A PnetCDF that is loaded, but not where the dynamic linker looks for the next symbol.
void* loaded_library() {
  const char* path = nullptr;
  dl_iterate_phdr(
      [](dl_phdr_info* library, std::size_t, void* found) {
        if (!std::strstr(library->dlpi_name, "/libpnetcdf.")) return 0;
        *static_cast<const char**>(found) = library->dlpi_name;
        return 1;
      },
      &path);
  return path ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
}

}  // namespace

void* find_native(const char* name) {
  if (slabmark_linked_pnetcdf) return slabmark_linked_pnetcdf(name);
  if (void* const next = dlsym(RTLD_NEXT, name)) return next;
  void* const library = loaded_library();
  return library ? dlsym(library, name) : nullptr;
}

bool inside_native() { return calls_under_way > 0; }

InsideNative::InsideNative() { ++calls_under_way; }
InsideNative::~InsideNative() { --calls_under_way; }

}  // namespace slabmark::pnetcdf
