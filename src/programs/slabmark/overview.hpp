#pragma once

#include <string>

namespace slabmark::command {

std::string help_text();
/// Of `slabmark help --help`.
std::string help_of_help();
std::string version_text();

/// The verbs and options as JSON, in the form in which each verb describes its own
/// (`--describe-options`).
std::string description();

}  // namespace slabmark::command
