#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "bench/measure/record.hpp"

namespace slabmark {

/// The records of one run as a table of 80 columns, or more where names of methods are long:
/// medians of the phases and of open-to-close in seconds, the interval of open-to-close relative to
/// it, rate, share of the upper bound, verified or not. Below it the meaning of the columns, the
/// number of trials, and the reasons of methods that do not support the pattern. Records have all
/// digits.
std::string format_table(std::span<const CellRecord> records);

/// Open-to-close rates as horizontal bars with their intervals, on lines of `columns`.
std::string format_bars(std::span<const CellRecord> records, std::size_t columns = 80);

}  // namespace slabmark
