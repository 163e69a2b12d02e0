#include "programs/bench/options.hpp"

#include <fmt/format.h>

#include "bench/measure/record.hpp"
#include "bench/method/registry.hpp"
#include "core/base/command_line.hpp"
#include "core/base/error.hpp"
#include "core/base/printable.hpp"
#include "programs/bench/environment_command.hpp"

namespace slabmark::bench_program {

namespace {

/// What all subcommands take.
void add_shared_options(CLI::App& app, Options& options, std::vector<std::string>& methods) {
  add_list(app, "--method", methods,
           "Methods, separated by commas; 'slabmark-bench methods' lists them")
      ->required();
  app.add_option("-o,--output-dir", options.directory, "Directory for the files that are written")
      ->capture_default_str();
  app.add_option_function<std::string>(
         "--content",
         [&options](const std::string& word) {
           options.content = parse_word(word, "--content", content_kinds);
         },
         fmt::format("What elements hold: {}; filters make smooth fields smaller",
                     alternatives(names_of(content_kinds))))
      ->default_str("position");
  app.add_flag("--read", options.read, "Measure reading: each rank reads what another one wrote");
  app.add_option_function<std::string>(
      "--read-shape",
      [&options](const std::string& word) {
        options.read_shape = parse_word(word, "--read-shape", read_shapes);
        options.read = true;
        options.bounds = false;
      },
      fmt::format("Measure reading by one rank, as programs that look into a file do: {}",
                  alternatives(names_of(read_shapes))));
  add_count(app, "--rounds-together", options.rounds_together,
            "Rounds that are posted before the ranks meet again", {.min = 1});
  app.add_flag_callback(
      "--no-bound", [&options] { options.bounds = false; },
      "Do not measure the same bytes moved contiguously beside");
  app.add_flag_callback(
      "--no-verify", [&options] { options.run.verify = false; },
      "Do not read the written files back");
  app.add_flag("--chart", options.chart, "Show the rates as bars, too");
  app.add_flag("-q,--quiet", options.quiet, "No progress");
  add_common_arguments(app, options);
  add_stopping_arguments(app, options);
}

std::string list_of_methods() {
  std::string text;
  for (const MethodInfo& method : methods()) {
    text += wrapped(fmt::format("{:<22} {}", method.name, method.summary), 23) + "\n";
    if (!method.missing.empty()) text += fmt::format("    not in this build: {}\n", method.missing);
    for (const OptionInfo& option : method.options) {
      text += wrapped(fmt::format("    --set {}={}: {} ({})", option.name, option.default_text,
                                  option.help, option.accepted_values),
                      8) +
              "\n";
    }
  }
  return text;
}

void resolve(Options& options, const std::vector<std::string>& names,
             std::unique_ptr<PatternCommand> pattern, const CLI::App& command) {
  pattern->check();
  options.pattern = std::move(pattern);
  for (const std::string& name : names) {
    options.methods.push_back(&find_method(options.pattern->method_name(name)));
  }
  std::vector<const MethodInfo*> taking_options = options.methods;
  if (options.bounds && options.settings.options.contains("posix.direct")) {
    taking_options.push_back(&find_method("posix"));  // the limit
  }
  resolve_common(options, taking_options);
  options.run.inputs = options.pattern->inputs();
  options.configuration = options_given(command);
  options.configuration["command"] = command.get_name();
}

}  // namespace

Parsed<Options> parse(int argc, const char* const* argv) {
  CLI::App app("Runs any pattern through any methods and compares them with the limit.",
               "slabmark-bench");
  app.require_subcommand(0, 1);  // with 1, an unknown word would be reported as a missing one
  CLI::App* list = app.add_subcommand("methods", "List the methods and their options");
  bool as_json = false;
  list->add_flag("--json", as_json, "As JSON, with kinds and formats");
  CLI::App* environment = app.add_subcommand(
      "environment", "Print libraries, file system and methods in effect here, as JSON");
  Options options;
  environment->add_option("-o,--output-dir", options.directory, "Directory that is asked about")
      ->capture_default_str();

  std::vector<std::unique_ptr<PatternCommand>> patterns = pattern_commands();
  std::vector<CLI::App*> commands;
  std::vector<std::string> methods;
  for (const auto& pattern : patterns) {
    commands.push_back(app.add_subcommand(pattern->name(), pattern->help()));
    pattern->add_options(*commands.back());
    add_shared_options(*commands.back(), options, methods);
  }

  if (auto help = parse_command_line(app, argc, argv)) return {std::nullopt, *help};
  if (list->parsed()) {
    return {
        std::nullopt,
        as_json
            ? nlohmann::json{{"methods", describe_methods()}, {"terms", describe_terms()}}.dump() +
                  "\n"
            : list_of_methods()};
  }
  options.environment = environment->parsed();
  if (options.environment) return {std::move(options), ""};
  for (std::size_t i = 0; i < commands.size(); ++i) {
    if (!commands[i]->parsed()) continue;
    resolve(options, methods, std::move(patterns[i]), *commands[i]);
    return {std::move(options), ""};
  }
  throw InputError("No pattern was named; 'slabmark-bench --help' lists them.");
}

}  // namespace slabmark::bench_program
