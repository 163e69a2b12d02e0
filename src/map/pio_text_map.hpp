#pragma once

#include <memory>
#include <string>

#include "map/decomposition.hpp"

namespace slabmark {

/// Collective. A PIO text file as a map: rank 0 finds the lines, each rank reads and parses only
/// those of its own recorded ranks.
std::unique_ptr<MapFile> open_pio_text_map(const Comm& comm, const std::string& path);

}  // namespace slabmark
