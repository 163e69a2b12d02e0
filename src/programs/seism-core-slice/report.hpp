#pragma once

#include <string>

#include "bench/checkpoint/settings.hpp"
#include "bench/measure/record.hpp"
#include "core/json/json.hpp"

namespace slabmark::seism_core_slice {

/// The plan of the run, in the original's lines; see docs/reference/seism-core.md.
std::string format_echo(const CheckpointSettings& settings);

/// The measurement, in the original's lines. Of several trials the medians.
std::string format_results(const CheckpointSettings& settings, const CellRecord& record);

/// The same numbers for the attributes of the file, in seconds and bytes.
Json facts_of(const CellRecord& record);

}  // namespace slabmark::seism_core_slice
