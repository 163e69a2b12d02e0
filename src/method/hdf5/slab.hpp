#pragma once

#include <memory>

#include "method/hdf5/method.hpp"

namespace slabmark {

/// The method hdf5-slab on a file that `setup` describes: for methods that differ in the file, not
/// in the calls.
std::unique_ptr<Method> make_hdf5_slab(const MethodContext& context, Hdf5Setup setup);

}  // namespace slabmark
