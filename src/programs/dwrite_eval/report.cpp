#include "programs/dwrite_eval/report.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace slabmark::dwrite_eval {

namespace {

/// Four lines about one time, over the ranks.
std::string group(const std::string& label, const RankSummary& seconds) {
  return fmt::format(
      "{0} (mean): {1:.6f}\n{0} (max): {2:.6f}\n{0} (min): {3:.6f}\n{0} (var): {4:.6f}\n", label,
      seconds.mean, seconds.max, seconds.min, seconds.variance);
}

std::vector<const TrialRecord*> measured_trials(const CellRecord& record) {
  std::vector<const TrialRecord*> trials;
  for (const TrialRecord& trial : record.trials) {
    if (!trial.warm_up) trials.push_back(&trial);
  }
  return trials;
}

// Methods give the span the name of the phase in which they call: "post.H5Dwrite" as a rule.
const RankSummary* seconds_in_h5dwrite(const TrialRecord& trial) {
  for (const auto& [name, seconds] : trial.spans) {
    for (const char* call : {".H5Dwrite", ".H5Dwrite_multi", ".H5Dwrite_n"}) {
      if (name.ends_with(call)) return &seconds;
    }
  }
  return nullptr;
}

std::string counted(const Json& counts) {
  std::vector<std::string> parts;
  for (const auto& [name, count] : counts.items()) {
    parts.push_back(fmt::format("{} ({})", name, count.dump()));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string listed(const Json& words) {
  std::vector<std::string> parts;
  for (const auto& word : words) parts.push_back(word.get<std::string>());
  return parts.empty() ? "none" : fmt::format("{}", fmt::join(parts, ", "));
}

/// The lines that -v adds to a section: the phases of the trial shown, and the library's own words.
std::string more_lines(const Way& way, const CellRecord& record, const TrialRecord& trial) {
  std::vector<std::string> phases;
  for (const auto& [phase, part] : trial.phases) {
    phases.push_back(fmt::format("{} {:.6f}", name_of(phase), part.seconds));
  }
  std::string text =
      fmt::format("\nphases using {}, slowest rank: {}\n", way.label, fmt::join(phases, ", "));
  const Json& effective = record.effective;
  if (effective.contains("calls")) {
    text += fmt::format("calls of rank 0 using {}: {}\n", way.label, counted(effective["calls"]));
  }
  if (effective.contains("io_mode")) {
    text += fmt::format("actual I/O mode using {}: {}\n", way.label, counted(effective["io_mode"]));
  }
  if (effective.contains("no_collective_cause")) {
    text += fmt::format("cause of no collective I/O using {}: {}\n", way.label,
                        listed(effective["no_collective_cause"]));
  }
  return text;
}

// The original had one trial, so with one nothing needs to be said.
std::string trial_line(const Way& way, const CellRecord& record, const TrialRecord& shown) {
  const auto trials = measured_trials(record);
  if (trials.size() < 2) return "";
  const auto place = std::find(trials.begin(), trials.end(), &shown) - trials.begin() + 1;
  const TrialSummary& seconds = record.summary.open_to_close.seconds;
  return fmt::format(
      "\nshown for {}: trial {} of {}, with the median end to end time, {} [{:.6f}, {:.6f}]\n",
      way.label, place, trials.size(), seconds.interval_name(), seconds.low, seconds.high);
}

std::string section(const Result& result, bool verbose) {
  const Way& way = *result.way;
  if (result.record == nullptr) {
    return fmt::format("\n{}: not measured, because {}\n", way.label, way.missing);
  }
  const CellRecord& record = *result.record;
  if (!record.unsupported.empty()) {
    return fmt::format("\n{}: not measured, because {}\n", way.label, record.unsupported);
  }
  const TrialRecord& trial = median_trial(record);
  std::string text =
      "\n" + group("end to end I/O time using " + way.label, trial.open_to_close_ranks) + "\n" +
      group("write request posting time using " + way.label, trial.transfer_ranks);
  if (const RankSummary* calls = seconds_in_h5dwrite(trial)) {
    text += "\n" + group("time calling H5Dwrite using " + way.label, *calls);
  }
  text += trial_line(way, record, trial);
  if (verbose) text += more_lines(way, record, trial);
  return text;
}

std::string setup_lines(const ReportInput& input) {
  std::string text = fmt::format("MPI-IO implementation: {}\n", input.mpi_io);
  text += fmt::format("reading decomposition: {:.6f}\n",
                      input.setup.at("map_open") + input.setup.at("map_read"));
  text += fmt::format("sorting and coalescing: {:.6f}\n", input.setup.at("map_sort"));
  text += fmt::format("most hyper-slabs of one variable on a rank: {}\n", input.max_requests);
  for (const Result& result : input.results) {
    if (result.record == nullptr) continue;
    const PatternRecord& pattern = result.record->pattern;
    text += fmt::format("datasets: {}, {} bytes, {} hyper-slabs of all ranks\n", pattern.datasets,
                        pattern.bytes, pattern.requests_total);
    break;
  }
  return text + "\n";
}

/// The files that were read back, and how much of them.
std::string verified_line(std::span<const Result> results) {
  std::uint64_t elements = 0;
  std::uint64_t files = 0;
  for (const Result& result : results) {
    if (result.record == nullptr || result.record->verified.state != Verified::yes) continue;
    elements += result.record->verified.elements;
    ++files;
  }
  if (files == 0) return "";
  return fmt::format("\nverified: {} elements in {} file{}, each as it should be\n", elements,
                     files, files == 1 ? "" : "s");
}

}  // namespace

const TrialRecord& median_trial(const CellRecord& record) {
  auto trials = measured_trials(record);
  const auto middle = trials.begin() + static_cast<std::ptrdiff_t>((trials.size() - 1) / 2);
  std::nth_element(trials.begin(), middle, trials.end(),
                   [](const TrialRecord* a, const TrialRecord* b) {
                     return a->open_to_close < b->open_to_close;
                   });
  return **middle;
}

std::string format_report(const ReportInput& input) {
  std::string text;
  if (input.verbose) text += setup_lines(input);
  text += group("total run time", input.total);
  for (const Result& result : input.results) text += section(result, input.verbose);
  return text + verified_line(input.results);
}

}  // namespace slabmark::dwrite_eval
