#include "base/command_line.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace slabmark {

namespace {

/// An empty value is a script's unset variable, and would pass for an option that was not given.
void refuse_empty_values(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& value : option->results()) {
      if (!value.empty()) continue;
      throw InputError(fmt::format("{} is given without a value; give it one, or leave it out.",
                                   option->get_name()));
    }
  }
  for (const CLI::App* command : app.get_subcommands()) refuse_empty_values(*command);
}

}  // namespace

std::optional<std::string> parse_command_line(CLI::App& app, int argc, const char* const* argv) {
  app.add_flag("--version")->description("Print the versions of the program and its libraries");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return app.help();
  } catch (const CLI::CallForAllHelp&) {
    return app.help("", CLI::AppFormatMode::All);
  } catch (const CLI::ParseError& error) {
    throw InputError(
        fmt::format("{}; '{} --help' lists the options.", error.what(), app.get_name()));
  }
  refuse_empty_values(app);
  return std::nullopt;
}

std::map<std::string, std::string> options_given(const CLI::App& app) {
  std::map<std::string, std::string> given;
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() == 0 || option->get_name() == "--help") continue;
    given[option->get_name()] = fmt::format("{}", fmt::join(option->results(), ","));
  }
  return given;
}

}  // namespace slabmark
