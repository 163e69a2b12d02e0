#include "bench/run_arguments.hpp"

#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/number.hpp"
#include "measure/record_file.hpp"
#include "method/registry.hpp"
#include "parallel/agree.hpp"
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

}  // namespace

void add_output_arguments(CLI::App& app, RunArguments& arguments) {
  app.add_option("--json", arguments.json, "Append one record a method to this file (JSON Lines)");
  app.add_option("--hint", arguments.hints, "MPI-IO hint, key=value; may be repeated");
  app.add_option("--set", arguments.options,
                 "Option of a method, such as pnetcdf.blocking=on; may be repeated");
  app.add_flag("--keep", arguments.keep, "Leave the output files of the last trial");
  app.add_flag("--overwrite", arguments.overwrite, "Replace output files that exist already");
}

void add_common_arguments(CLI::App& app, RunArguments& arguments) {
  add_output_arguments(app, arguments);
  app.add_option("--trials", arguments.trials,
                 "Measure just this many trials, after one warm-up if more than one");
  app.add_flag("--sync", arguments.sync, "Make files durable (fsync) inside open-to-close");
  app.add_option("--deadline", arguments.deadline,
                 "Seconds that one phase may take before the job is taken to hang; 0: no limit "
                 "(default 1800)");
}

void add_stopping_arguments(CLI::App& app, RunArguments& arguments) {
  app.add_option("--min-trials", arguments.min_trials, "Trials at least (default 10)");
  app.add_option("--max-trials", arguments.max_trials, "Trials at most (default 30)");
  app.add_option(
      "--precision", arguments.precision,
      "Stop when the interval's half-width is under this share of the median (default 0.05)");
  app.add_option("--time-budget", arguments.time_budget,
                 "Seconds that one method may use (default: no limit)");
  app.add_option("--seed", arguments.seed,
                 "Seed of the order in which methods take turns (default 1)");
  app.add_flag("--no-warm-up", arguments.no_warm_up, "Measure from the first trial on");
}

RunOptions resolve_options(const RunArguments& arguments, RunOptions standard) {
  RunOptions options = std::move(standard);
  StoppingRule& rule = options.rule;
  if (!arguments.min_trials.empty())
    rule.min_trials = parse_count(arguments.min_trials, "--min-trials", 1, most_trials);
  if (!arguments.max_trials.empty())
    rule.max_trials = parse_count(arguments.max_trials, "--max-trials", 1, most_trials);
  if (!arguments.precision.empty()) rule.precision = parse_real(arguments.precision, "--precision");
  if (!arguments.time_budget.empty())
    rule.time_budget = parse_real(arguments.time_budget, "--time-budget");
  if (!arguments.trials.empty()) {
    const std::uint64_t trials = parse_count(arguments.trials, "--trials", 1, most_trials);
    rule = fixed_trials(trials);
    options.warm_up = trials > 1;
  }
  check(rule);
  if (!arguments.deadline.empty()) options.deadline = parse_real(arguments.deadline, "--deadline");
  if (!arguments.seed.empty()) options.seed = parse_count(arguments.seed, "--seed");
  if (arguments.no_warm_up) options.warm_up = false;
  if (arguments.verify) options.verify = true;
  if (arguments.no_verify) options.verify = false;
  options.sync = arguments.sync;
  options.keep = arguments.keep;
  options.overwrite = arguments.overwrite;
  return options;
}

void require_record_file(const Comm& comm, const std::string& path) {
  agreed(comm, [&] {
    if (comm.is_root() && !path.empty()) check_record_path(path);
  });
}

void add_verify_arguments(CLI::App& app, RunArguments& arguments, const std::string& otherwise) {
  auto* verify = app.add_flag("--verify", arguments.verify,
                              "Read every element back and compare, outside the times (default)");
  app.add_flag("--no-verify", arguments.no_verify, otherwise)->excludes(verify);
}

void resolve_common(const RunArguments& arguments, RunOptions standard, CommonOptions& options) {
  options.run = resolve_options(arguments, std::move(standard));
  options.settings = resolve_settings(arguments);
  options.json = arguments.json;
}

Settings resolve_settings(const RunArguments& arguments) {
  Settings settings;
  for (const std::string& text : arguments.hints) {
    settings.hints.push_back(split_at_equals(text, "--hint"));
  }
  mpiio::check_hints(settings.hints);
  for (const std::string& text : arguments.options) {
    settings.options.insert_or_assign(split_at_equals(text, "--set").first,
                                      split_at_equals(text, "--set").second);
  }
  check_options(settings);
  return settings;
}

}  // namespace slabmark
