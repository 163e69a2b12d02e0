#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace slabmark {

/// Prints the header of a pattern file as JSON on standard output; with a rank, its events, each
/// as an object on a line of its own, with lists taken apart. Throws InputError.
void show_pattern(const std::string& path, std::optional<std::uint64_t> rank);

}  // namespace slabmark
