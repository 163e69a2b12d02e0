#pragma once

#include <istream>
#include <string>

#include "bench/checkpoint/settings.hpp"

namespace slabmark::seism_core_slice {

/// Lines of `in` up to DONE; nothing behind it is read. Every line is parsed as it comes, so that a
/// user at a terminal sees a mistake at once. Throws InputError.
std::string read_until_done(std::istream& in);

/// The input language: one keyword a line, with its values behind it, in any order, up to DONE. If
/// a keyword comes twice, the last one counts. A line whose first character other than a blank is
/// '#' is a comment, and so is the rest of a line from a word that begins with '#' (but not of
/// use_function_argv). Throws InputError that names the line, or what is missing.
CheckpointSettings parse_input(const std::string& text);

}  // namespace slabmark::seism_core_slice
