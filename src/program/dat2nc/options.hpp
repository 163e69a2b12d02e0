#pragma once

#include <optional>
#include <string>
#include <vector>

namespace slabmark::dat2nc {

struct Options {
  bool is_quiet = false;
  std::string output;               ///< never empty
  std::vector<std::string> inputs;  ///< at least one
  std::string command_line;         ///< as given, for the file
};

/// Parses the command line and finds the output's name. Returns the text of the help in `help` if
/// it was asked for. Throws InputError.
Options parse(int argc, char** argv, std::optional<std::string>& help);

}  // namespace slabmark::dat2nc
