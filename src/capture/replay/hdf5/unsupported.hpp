#pragma once

#include <optional>
#include <string>

#include "bench/pattern/captured/captured_pattern.hpp"

namespace slabmark {

/// Why this rank's calls of HDF5 cannot be made again. Ranks may find different reasons, or none.
std::optional<std::string> reason_against_hdf5_calls(const CapturedRun& run);

}  // namespace slabmark
