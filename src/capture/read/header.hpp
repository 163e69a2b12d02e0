#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace slabmark {

/// Checks the header of the pattern file `path` against docs/pattern-file.md, so that who reads a
/// key that is required, or is there, finds it of its kind. Throws InputError.
void check_header(const nlohmann::json& header, const std::string& path);

}  // namespace slabmark
