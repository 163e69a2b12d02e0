#include "programs/bench/options.hpp"

#include <algorithm>
#include <climits>
#include <iterator>

#include <fmt/format.h>

#include "bench/measure/record.hpp"
#include "bench/measure/record_file.hpp"
#include "bench/method/registry.hpp"
#include "core/base/error.hpp"
#include "core/base/launched_rank.hpp"
#include "core/base/printable.hpp"
#include "core/command_line/command_line.hpp"
#include "programs/bench/environment_command.hpp"
#include "programs/bench/workload.hpp"

namespace slabmark::bench_program {

namespace {

void add_directory(Command& command, Options& options, const char* help) {
  command.add_text("-d,--output-dir", "DIR", options.directory, help).retired("-o");
}

/// The options of all patterns, or with `by_writers` of those whose writers may be others than the
/// readers.
void add_shared_options(Command& command, Options& options, std::vector<std::string>& methods,
                        bool by_writers) {
  command
      .add_list("--method", methods,
                "Methods, separated by commas; 'slabmark bench methods' lists them")
      .required();
  add_directory(command, options, "Directory for the files that are written");
  options.run.output_choice = "-d";
  command.add_word("--content", options.content,
                   "Contents of elements; filters make smooth fields smaller",
                   std::vector(std::begin(content_kinds), std::end(content_kinds)));
  command.add_flag("--read", options.read,
                   "Measure reading: each rank reads what another one wrote");
  OptionHandle read_shape =
      command.add_parsed("--read-shape", "WORD", names_of(read_shapes),
                         "Measure reading by one rank, as programs that look into a file do",
                         [&options](const std::string& word, const std::string& what) {
                           options.read_shape = parse_word(word, what, read_shapes);
                           options.read = true;
                           options.bounds = false;
                         });
  if (by_writers) {
    command
        .add_count("--written-by", options.written_by,
                   "Ranks that wrote the file; measure how all ranks read it in blocks",
                   {.min = 1, .max = INT_MAX})
        .excludes(read_shape);
  }
  command.add_count("--rounds-together", options.rounds_together,
                    "Rounds that are posted before the ranks meet again", {.min = 1});
  command.add_flag(
      "--no-bound", [&options] { options.bounds = false; },
      "Do not measure the same bytes moved contiguously beside");
  command.add_flag(
      "--no-verify", [&options] { options.run.verify = false; },
      "Do not read the written files back");
  command.add_flag("--chart", options.chart, "Show the rates as bars, too");
  command.add_flag("-q,--quiet", options.quiet, "Print less: no progress");
  add_common_arguments(command, options);
  add_stopping_arguments(command, options);
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

/// A description, or nothing if it was appended to a file.
std::string json_text(const std::string& json, const Json& all) {
  if (json == standard_output) return all.dump() + "\n";
  if (is_first_rank_of_launch()) append_document(json, all);
  return "";
}

std::string methods_text(const std::string& json) {
  if (json.empty()) return list_of_methods();
  return json_text(json, {{"methods", describe_methods()}, {"terms", describe_terms()}});
}

void add_json(Command& command, std::string& json) {
  command.add_text("--json", "FILE", json,
                   "Append one JSON document per line to this file; - prints it");
}

void resolve(Options& options, const std::vector<std::string>& names,
             std::unique_ptr<PatternCommand> pattern, const Command& command) {
  if (options.written_by) {
    options.read = true;
    pattern->set_writers(*options.written_by);
  }
  pattern->check();
  options.read = options.read || pattern->only_reads();
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
  options.configuration = command.options_given();
  options.configuration["command"] = command.word();
}

}  // namespace

Parsed<Options> parse(int argc, const char* const* argv) {
  CommandLine line("slabmark bench",
                   "Runs any pattern through any methods and compares them with the limit");
  line.root().call_commands("PATTERN");
  Command& list = line.root().add_command("methods", "List the methods and their options");
  std::string json;
  add_json(list, json);
  WorkloadList workload_list(line.root());
  add_json(workload_list.command(), json);
  Command& environment = line.root().add_command(
      "environment", "Print libraries, file system and methods in effect here, as JSON");
  Options options;
  add_directory(environment, options, "Directory that is asked about");

  std::vector<std::unique_ptr<PatternCommand>> patterns = pattern_commands();
  std::vector<const Command*> commands;
  std::vector<std::string> methods;
  for (const auto& pattern : patterns) {
    Command& command = line.root().add_command(pattern->name(), pattern->help());
    commands.push_back(&command);
    pattern->add_options(command);
    add_shared_options(command, options, methods, pattern->takes_writers());
  }

  if (auto help = line.parse(argc, argv)) return {std::nullopt, *help};
  if (list.is_given()) return {std::nullopt, methods_text(json)};
  if (workload_list.command().is_given()) {
    const auto rows = workload_list.rows();
    return {std::nullopt, json.empty() ? workload_list.text(rows)
                                       : json_text(json, workload_list.description(rows))};
  }
  options.environment = environment.is_given();
  if (options.environment) return {std::move(options), ""};
  const auto given = std::find_if(commands.begin(), commands.end(),
                                  [](const Command* command) { return command->is_given(); });
  resolve(options, methods, std::move(patterns[given - commands.begin()]), **given);
  return {std::move(options), ""};
}

}  // namespace slabmark::bench_program
