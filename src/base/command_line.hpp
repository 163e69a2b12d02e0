#pragma once

#include <map>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

namespace slabmark {

/// What a program was told, checked. Nothing in `options` if help was asked for; `help` then holds
/// the text.
template <class Options>
struct Parsed {
  std::optional<Options> options;
  std::string help;
};

/// Parses the command line of a program. Returns the text to print on standard output and exit 0
/// with (help was asked for), or nothing. Bad usage is an InputError whose sentence ends
/// with how to get help; so is a value that is empty. No exit, no printing: in an MPI program only
/// one rank may print. `--version` is for run_program(), which has looked for it before.
std::optional<std::string> parse_command_line(CLI::App& app, int argc, const char* const* argv);

/// What the user gave of the options of `app`, by their names and several values joined by commas,
/// so that a record tells how to repeat the run.
std::map<std::string, std::string> options_given(const CLI::App& app);

}  // namespace slabmark
