#pragma once

#include <memory>
#include <vector>

#include "convert/series.hpp"

namespace slabmark::convert {

/// The variables of several files side by side, as one source. Dimensions of one name must have the
/// same length in all files. A variable that several files have must have the same type, dimensions
/// and attributes in all, and the same elements, which is checked where they are read. Attributes
/// of the file are those of the first. Not collective. Throws InputError.
std::unique_ptr<Source> merge(std::vector<SeriesFile> files);

/// Files with the same variables are joined along their records, and the results are merged.
std::unique_ptr<Source> combine(std::vector<SeriesFile> files);

}  // namespace slabmark::convert
