#pragma once

#include <pnetcdf.h>

namespace slabmark::pnetcdf {

/// The function of the PnetCDF that the program uses: the next one of that name after ours, or that
/// of a PnetCDF which the program loaded later (a module of Python). Null where there is none.
void* find_native(const char* name);

/// True if a call of PnetCDF's own is under way. PnetCDF's calls of itself are not to be taken.
bool inside_native();

/// A call of PnetCDF's own, while it lives.
struct InsideNative {
  InsideNative();
  ~InsideNative();
  InsideNative(const InsideNative&) = delete;
  InsideNative& operator=(const InsideNative&) = delete;
};

/// A function of PnetCDF's own. Calls return NC_ENOTSUPPORT where this PnetCDF does not have it.
template <class Function>
class Native {
 public:
  explicit Native(const char* name) : function_(reinterpret_cast<Function>(find_native(name))) {}

  template <class... Arguments>
  int operator()(Arguments... arguments) const {
    const InsideNative now;
    return function_ ? function_(arguments...) : NC_ENOTSUPPORT;
  }

 private:
  Function function_;
};

}  // namespace slabmark::pnetcdf

/// PnetCDF's own `function`, looked up once.
#define SLABMARK_NATIVE(function)                                                 \
  ([]() -> const ::slabmark::pnetcdf::Native<decltype(&function)>& {              \
    static const ::slabmark::pnetcdf::Native<decltype(&function)> own{#function}; \
    return own;                                                                   \
  }())
