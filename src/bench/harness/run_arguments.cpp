#include "bench/harness/run_arguments.hpp"

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/method/registry.hpp"
#include "core/base/error.hpp"
#include "core/command_line/command_line.hpp"
#include "storage/mpiio/info.hpp"

namespace slabmark {

namespace {

// Their times are kept until the record is written.
constexpr std::uint64_t most_trials = 1'000'000;

std::pair<std::string, std::string> split_at_equals(const std::string& text, const char* option) {
  const std::size_t at = text.find('=');
  if (at == std::string::npos || at == 0) {
    throw InputError(fmt::format("{} '{}' is not of the form key=value.", option, text));
  }
  return {text.substr(0, at), text.substr(at + 1)};
}

void add_settings_arguments(Command& command, Settings& settings) {
  command.add_each(
      "--hint", "KEY=VALUE",
      [&settings](const std::string& word) {
        settings.hints.push_back(split_at_equals(word, "--hint"));
      },
      "MPI-IO hint; may be repeated");
  command.add_each(
      "--set", "NAME=VALUE",
      [&settings](const std::string& word) {
        const auto [name, value] = split_at_equals(word, "--set");
        settings.options.insert_or_assign(name, value);
      },
      "Option of a method, such as pnetcdf.blocking=on, of those that 'slabmark bench methods' "
      "lists; may be repeated");
}

}  // namespace

RunOptions one_trial() {
  RunOptions run;
  run.rule = fixed_trials(1);
  run.warm_up = false;
  return run;
}

void add_json_argument(Command& command, CommonOptions& options) {
  command.add_text("--json", "FILE", options.run.records,
                   "Append one JSON document per line to this file; - prints it");
}

void add_deadline_argument(Command& command, CommonOptions& options) {
  command.add_real("--deadline", "SECONDS", options.run.deadline,
                   "Seconds that one phase may take before the job is taken to hang; 0: no limit");
}

void add_output_arguments(Command& command, CommonOptions& options) {
  add_json_argument(command, options);
  add_settings_arguments(command, options.settings);
  command.add_flag("--keep", options.run.keep, "Leave the output files of the last trial");
  command.add_flag("--overwrite", options.run.overwrite, "Replace output files that exist already");
}

void add_common_arguments(Command& command, CommonOptions& options) {
  add_output_arguments(command, options);
  command.add_count("--trials", options.trials,
                    "Measured trials, after one warm-up if more than one",
                    {.min = 1, .max = most_trials});
  command.add_flag("--sync", options.run.sync, "Make files durable (fsync) inside the times");
  add_deadline_argument(command, options);
}

void add_stopping_arguments(Command& command, CommonOptions& options) {
  const OptionHandle just_many = command.option("--trials");
  command
      .add_count("--min-trials", options.run.rule.min_trials, "Trials at least",
                 {.min = 1, .max = most_trials})
      .excludes(just_many);
  command
      .add_count("--max-trials", options.run.rule.max_trials, "Trials at most",
                 {.min = 1, .max = most_trials})
      .excludes(just_many);
  command
      .add_real("--precision", "NUMBER", options.run.rule.precision,
                "Stop when the interval's half-width is under this share of the median")
      .excludes(just_many);
  command
      .add_real("--time-limit", "SECONDS", options.run.rule.time_budget,
                "Seconds that one method may use")
      .excludes(just_many)
      .retired("--time-budget");
  command.add_count("--seed", options.run.seed,
                    "Random seed of the order in which methods take turns");
  command.add_flag("--no-warm-up", options.no_warm_up, "Measure from the first trial on");
}

void add_verify_arguments(Command& command, CommonOptions& options, const std::string& without) {
  const OptionHandle verify = command.add_flag(
      "--verify", [&options] { options.run.verify = true; },
      "Read every element back and compare, outside the times (default)");
  command
      .add_flag(
          "--no-verify", [&options] { options.run.verify = false; }, without)
      .excludes(verify);
}

void resolve_common(CommonOptions& options, std::span<const MethodInfo* const> chosen) {
  if (options.trials) {
    options.run.rule = fixed_trials(*options.trials);
    options.run.warm_up = *options.trials > 1;
  }
  mpiio::check_hints(options.settings.hints);
  if (options.no_warm_up) options.run.warm_up = false;
  check(options.run.rule);
  check_options(options.settings, chosen);
  options.thread_level = thread_level(chosen);
}

}  // namespace slabmark
