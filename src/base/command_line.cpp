#include "base/command_line.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace slabmark {

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
