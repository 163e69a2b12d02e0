#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "parallel/comm.hpp"

namespace slabmark::bench_program {

/// What is in effect for files in `directory`: the members of a record's manifest, "warning" (one
/// sentence, or null) and "methods" (each "name", "summary", "missing" with the reason or null, and
/// "options", each "name", "standard", "help"). Collective; complete on root.
nlohmann::json describe_environment(const Comm& world, const std::string& directory);

}  // namespace slabmark::bench_program
