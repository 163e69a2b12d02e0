#pragma once

#include <string>
#include <vector>

#include "program/h5perf/options.hpp"

namespace slabmark::h5perf {

// Options that take words. Each throws InputError that names a word it does not know.

/// Names in either case, in any order; none stands for all. Sorted as they run.
std::vector<Api> parse_apis(const std::vector<std::string>& words);

/// Letters in either case; of several levels the highest.
DebugFlags parse_debug(const std::vector<std::string>& words);

/// None stands for the verified contents.
std::vector<Contents> parse_contents(const std::vector<std::string>& words);

/// True for "original", false for "hdf5".
bool parse_emulation(const std::string& word);

}  // namespace slabmark::h5perf
