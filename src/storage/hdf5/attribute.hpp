#pragma once

#include <string>

#include "storage/hdf5/handle.hpp"

namespace slabmark::hdf5 {

/// Puts `text`, which is not empty, on a dataset or a group: one string of its length. Collective
/// in a parallel file.
void put_attribute(hid_t object, const std::string& name, const std::string& text,
                   const std::string& path);

}  // namespace slabmark::hdf5
