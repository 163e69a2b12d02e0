#pragma once

#include <string>

#include "core/json/json.hpp"

namespace slabmark {

/// Checks the header of the pattern file `path` against docs/reference/pattern-file.md, so that who
/// reads a key that is required, or is there, finds it of its kind. Throws InputError.
void check_header(const Json& header, const std::string& path);

}  // namespace slabmark
