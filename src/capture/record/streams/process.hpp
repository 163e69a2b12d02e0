#pragma once

#include <string>

namespace slabmark::capture {

/// Returns the description of this process: a definition of kind "process".
std::string process_json();

}  // namespace slabmark::capture
