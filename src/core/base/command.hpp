#pragma once

#include <optional>
#include <string>
#include <vector>

namespace slabmark {

/// The answer of a command that was run.
struct CommandAnswer {
  int status = -1;     ///< exit status; -1 if a signal ended it
  std::string output;  ///< its standard output
};

/// Runs a command, found in PATH, without a shell, so that no character of its words means anything
/// to one. With `with_errors` its standard error is part of the output, else it is dropped. Nothing
/// if it could not be started.
std::optional<CommandAnswer> run_command(std::vector<std::string> words, bool with_errors = false);

}  // namespace slabmark
