#pragma once

#include <cstdint>
#include <istream>
#include <set>
#include <string>
#include <string_view>

#include "checkpoint/settings.hpp"

namespace slabmark::seism_core_slice {

/// The input language: one keyword a line, with its values behind it, in any order, up to DONE. Of
/// a keyword that comes twice the last counts. A line whose first character other than a blank is
/// '#' is a comment, and so is the rest of a line from a word that begins with '#' (but not of
/// use_function_argv).
class InputParser {
 public:
  /// Takes the next line; true if it says DONE. Throws InputError that names the line.
  bool take(std::string_view line);

  /// The settings, complete. Throws InputError if there was no DONE, or if a line is missing.
  CheckpointSettings finish() const;

 private:
  void apply(const std::string& keyword, std::string_view rest);

  CheckpointSettings settings_;
  std::set<std::string> seen_;
  std::uint64_t line_ = 0;
  bool done_ = false;
};

/// Lines of `in` up to DONE; nothing behind it is read. Every line is parsed as it comes, so that a
/// user at a terminal sees a mistake at once. Throws InputError.
std::string read_until_done(std::istream& in);

/// Throws InputError.
CheckpointSettings parse_input(const std::string& text);

}  // namespace slabmark::seism_core_slice
