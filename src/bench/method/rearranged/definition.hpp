#pragma once

#include <string>

#include "bench/method/method.hpp"

namespace slabmark {

/// All that a definition depends on, as one text: datasets, attributes, records, and settings.
std::string definition_key(const Pattern& pattern, const Settings& settings);

}  // namespace slabmark
