#pragma once

#include <span>
#include <string>

#include "bench/measure/record.hpp"

namespace slabmark {

/// The records of one run as a table for the terminal: medians of the phases in seconds,
/// open-to-close with its interval, rate, share of the limit, verified or not. Below it the reasons
/// of methods that do not support the pattern, and what the interval is.
std::string format_table(std::span<const CellRecord> records);

/// Open-to-close rates as horizontal bars with their intervals, `width` columns for the fastest.
std::string format_bars(std::span<const CellRecord> records, int width = 50);

}  // namespace slabmark
