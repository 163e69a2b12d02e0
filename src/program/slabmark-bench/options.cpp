#include "program/slabmark-bench/options.hpp"

#include <fmt/format.h>

#include "base/command_line.hpp"
#include "base/error.hpp"
#include "base/number.hpp"
#include "method/registry.hpp"

namespace slabmark::bench_program {

namespace {

/// What all subcommands take, as text.
struct Shared {
  RunArguments run;
  std::vector<std::string> methods;
  std::string directory = ".";
  std::string rounds_together = "1";
  bool read = false;
  bool no_bounds = false;
  bool chart = false;
  bool quiet = false;
};

void add_shared_options(CLI::App& app, Shared& shared) {
  app.add_option("--method", shared.methods,
                 "Methods, separated by commas; 'slabmark-bench methods' lists them")
      ->delimiter(',')
      ->required();
  app.add_option("-o,--output-dir", shared.directory,
                 "Directory for the files that are written (default .)");
  app.add_flag("--read", shared.read, "Measure reading: each rank reads what another one wrote");
  app.add_option("--rounds-together", shared.rounds_together,
                 "Rounds that are posted before the ranks meet again (default 1)");
  app.add_flag("--no-bound", shared.no_bounds,
               "Do not measure the same bytes moved contiguously beside");
  app.add_flag("--no-verify", shared.run.no_verify, "Do not read the written files back");
  app.add_flag("--chart", shared.chart, "Show the rates as bars, too");
  app.add_flag("-q,--quiet", shared.quiet, "No progress");
  add_common_arguments(app, shared.run);
  add_stopping_arguments(app, shared.run);
}

std::string list_of_methods() {
  std::string text;
  for (const MethodInfo& method : methods()) {
    text += fmt::format("{:<22} {}\n", method.name, method.summary);
    if (!method.missing.empty())
      text += fmt::format("{:22} not in this build: {}\n", "", method.missing);
    for (const OptionInfo& option : method.options) {
      text += fmt::format("{:24}--set {}={}: {}\n", "", option.name, option.standard, option.help);
    }
  }
  return text;
}

Options resolve(const Shared& shared, std::unique_ptr<PatternCommand> pattern,
                const CLI::App& command) {
  Options options;
  pattern->check();
  options.pattern = std::move(pattern);
  for (const std::string& name : shared.methods) options.methods.push_back(&find_method(name));
  options.read = shared.read;
  options.rounds_together = parse_count(shared.rounds_together, "--rounds-together", 1);
  options.bounds = !shared.no_bounds;
  options.chart = shared.chart;
  options.quiet = shared.quiet;
  options.directory = shared.directory;
  resolve_common(shared.run, RunOptions{}, options);
  options.run.inputs = options.pattern->inputs();
  options.configuration = options_given(command);
  options.configuration["command"] = command.get_name();
  return options;
}

}  // namespace

CommandLine parse(int argc, const char* const* argv) {
  CLI::App app("Runs any pattern through any methods and compares them with the limit.",
               "slabmark-bench");
  app.require_subcommand(0, 1);  // with 1, an unknown word would be reported as a missing one
  CLI::App* list = app.add_subcommand("methods", "List the methods and their options");
  CLI::App* environment = app.add_subcommand(
      "environment", "Print libraries, file system and methods in effect here, as JSON");
  std::string environment_directory = ".";
  environment->add_option("-o,--output-dir", environment_directory,
                          "Directory that is asked about (default .)");

  std::vector<std::unique_ptr<PatternCommand>> patterns = pattern_commands();
  std::vector<CLI::App*> commands;
  Shared shared;
  for (const auto& pattern : patterns) {
    commands.push_back(app.add_subcommand(pattern->name(), pattern->help()));
    pattern->add_options(*commands.back());
    add_shared_options(*commands.back(), shared);
  }

  if (auto help = parse_command_line(app, argc, argv)) return {std::nullopt, std::nullopt, *help};
  if (list->parsed()) return {std::nullopt, std::nullopt, list_of_methods()};
  if (environment->parsed()) return {std::nullopt, environment_directory, ""};
  for (std::size_t i = 0; i < commands.size(); ++i) {
    if (commands[i]->parsed()) {
      return {resolve(shared, std::move(patterns[i]), *commands[i]), std::nullopt, ""};
    }
  }
  throw InputError("No pattern was named; 'slabmark-bench --help' lists them.");
}

}  // namespace slabmark::bench_program
