#pragma once

#include <memory>
#include <string>

#include "bench/map/decomposition.hpp"

namespace slabmark {

/// Collective. A pattern file as maps: one for all datasets of one extent that ranks share alike.
/// A rank's part is what it moves of a dataset in the first round, and the first record, in which
/// it moves anything of it; elements that it moves twice there count once. Throws an agreed
/// InputError where make_captured_pattern() does, or where all that is moved are scalars.
std::unique_ptr<MapFile> open_captured_map(const Comm& comm, const std::string& path);

}  // namespace slabmark
