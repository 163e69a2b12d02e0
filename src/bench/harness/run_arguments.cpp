#include "bench/harness/run_arguments.hpp"

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/method/registry.hpp"
#include "core/base/command_line.hpp"
#include "core/base/error.hpp"
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

void add_settings_arguments(CLI::App& app, Settings& settings) {
  using Words = std::vector<std::string>;
  app.add_option_function<Words>(
         "--hint",
         [&settings](const Words& words) {
           for (const auto& word : words) settings.hints.push_back(split_at_equals(word, "--hint"));
         },
         "MPI-IO hint; may be repeated")
      ->type_name("KEY=VALUE");
  app.add_option_function<Words>(
         "--set",
         [&settings](const Words& words) {
           for (const auto& word : words) {
             const auto [name, value] = split_at_equals(word, "--set");
             settings.options.insert_or_assign(name, value);
           }
         },
         "Option of a method, such as pnetcdf.blocking=on, of those that 'slabmark-bench methods' "
         "lists; may be repeated")
      ->type_name("NAME=VALUE");
}

}  // namespace

RunOptions one_trial() {
  RunOptions run;
  run.rule = fixed_trials(1);
  run.warm_up = false;
  return run;
}

void add_output_arguments(CLI::App& app, CommonOptions& options) {
  app.add_option("--json", options.run.records,
                 "Append one record a method to this file (JSON Lines)");
  add_settings_arguments(app, options.settings);
  app.add_flag("--keep", options.run.keep, "Leave the output files of the last trial");
  app.add_flag("--overwrite", options.run.overwrite, "Replace output files that exist already");
}

void add_common_arguments(CLI::App& app, CommonOptions& options) {
  add_output_arguments(app, options);
  add_count(app, "--trials", options.trials,
            "Measure just this many trials, after one warm-up if more than one",
            {.min = 1, .max = most_trials});
  app.add_flag("--sync", options.run.sync, "Make files durable (fsync) inside open-to-close");
  add_real(app, "--deadline", options.run.deadline,
           "Seconds that one phase may take before the job is taken to hang; 0: no limit");
}

void add_stopping_arguments(CLI::App& app, CommonOptions& options) {
  CLI::Option* const just_many = app.get_option("--trials");
  add_count(app, "--min-trials", options.run.rule.min_trials, "Trials at least",
            {.min = 1, .max = most_trials})
      ->excludes(just_many);
  add_count(app, "--max-trials", options.run.rule.max_trials, "Trials at most",
            {.min = 1, .max = most_trials})
      ->excludes(just_many);
  add_real(app, "--precision", options.run.rule.precision,
           "Stop when the interval's half-width is under this share of the median")
      ->excludes(just_many);
  add_real(app, "--time-budget", options.run.rule.time_budget, "Seconds that one method may use")
      ->excludes(just_many);
  add_count(app, "--seed", options.run.seed, "Seed of the order in which methods take turns");
  app.add_flag("--no-warm-up", options.no_warm_up, "Measure from the first trial on");
}

void add_verify_arguments(CLI::App& app, CommonOptions& options, const std::string& without) {
  auto* verify = app.add_flag_callback(
      "--verify", [&options] { options.run.verify = true; },
      "Read every element back and compare, outside the times (default)");
  app.add_flag_callback(
         "--no-verify", [&options] { options.run.verify = false; }, without)
      ->excludes(verify);
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
