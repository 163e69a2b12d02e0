#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace slabmark {

/// Lengths of an array's dimensions in C order: the slowest-varying dimension first. An empty
/// extent is a scalar (one element).
using Extent = std::vector<std::uint64_t>;

/// Product of the lengths. Throws InputError where it does not fit in 63 bits, the largest offset
/// that the file libraries can express.
std::uint64_t element_count(const Extent& extent);

/// "72 x 866"; "scalar" for an empty extent.
std::string to_string(const Extent& extent);

}  // namespace slabmark
