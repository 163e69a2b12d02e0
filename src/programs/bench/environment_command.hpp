#pragma once

#include <string>

#include "core/json/json.hpp"
#include "core/parallel/comm.hpp"

namespace slabmark::bench_program {

/// Each method of the registry: "name", "summary", "kind" (MethodKind), "format" (of its file),
/// "missing" with the reason or null, and "options", each "name", "default", "takes", "help".
Json describe_methods();

/// The settings in effect for files in `directory`: the members of a record's manifest, "warning"
/// (one sentence, or null) and "methods". Collective; complete on root.
Json describe_environment(const Comm& world, const std::string& directory);

}  // namespace slabmark::bench_program
