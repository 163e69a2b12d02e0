#pragma once

#include <string>

namespace slabmark::capture {

/// What this process says of itself: a definition of kind "process".
std::string process_json();

}  // namespace slabmark::capture
