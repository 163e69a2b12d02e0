#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/method/format.hpp"

namespace slabmark {

/// Reads the files of slices that stand at and beside `path`, through serial HDF5.
std::unique_ptr<PlainReader> open_slices(const Comm& comm, const Pattern& pattern,
                                         const std::string& path);

/// Files of slices that stand beside `path`, whichever method made them.
std::vector<std::string> slice_files_beside(const std::string& path);

}  // namespace slabmark
