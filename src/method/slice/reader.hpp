#pragma once

#include <memory>
#include <string>

#include "method/plain_reader.hpp"

namespace slabmark {

/// Reads the files of slices that stand at and beside `path`, through serial HDF5.
std::unique_ptr<PlainReader> open_slices(const Pattern& pattern, const std::string& path);

}  // namespace slabmark
