#pragma once

#include <optional>
#include <span>
#include <string>

#include "bench/measure/record.hpp"
#include "programs/slice_eval/measure.hpp"

namespace slabmark::slice_eval {

/// The tables of docs/reference/slice_eval.md. `regular` is the whole field, if it was written.
std::string format_report(const Options& options, std::span<const Row> rows,
                          const std::optional<CellRecord>& regular);

}  // namespace slabmark::slice_eval
