#pragma once

#include <type_traits>

#include "storage/hdf5/pass_through/functions.hpp"

namespace slabmark::slablog {

/// See pass_through::KeptErrors.
struct KeptErrors : pass_through::KeptErrors {
  KeptErrors() : pass_through::KeptErrors(pass_through::linked()) {}
};

/// Puts the exception that is being handled onto HDF5's error stack.
void report(const char* callback);

/// Runs `body`, which returns the status or the object of a callback. Exceptions must not go
/// through HDF5, so one becomes an error of HDF5's and a failed call.
template <class Body>
auto guarded(const char* callback, const Body& body) -> decltype(body()) {
  try {
    return body();
  } catch (...) {
    report(callback);
    if constexpr (std::is_pointer_v<decltype(body())>) {
      return nullptr;
    } else {
      return -1;
    }
  }
}

}  // namespace slabmark::slablog
