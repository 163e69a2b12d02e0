#include "programs/h5perf/report.hpp"

#include <algorithm>
#include <functional>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace slabmark::h5perf {

namespace {

constexpr double kib = 1024.0;
constexpr double mib = 1024.0 * kib;

constexpr std::string_view section_indent = "            ";
constexpr std::string_view figure_indent = "                ";

/// A time of one iteration, in seconds.
using TimeOf = std::function<double(const TrialRecord&)>;

double until_all(const TrialRecord& trial, Phase phase) {
  const auto found = trial.phases.find(phase);
  return found == trial.phases.end() ? 0.0 : found->second.until_all;
}

/// All three APIs move the data in post, so that phase is taken until the last rank was done: ranks
/// that share a core would otherwise pass for as many at work. Each such end holds an agreement of
/// all ranks, which the phases beside it, where next to nothing happens, need not pay again.
double raw_time(const TrialRecord& trial) {
  const double seconds = until_all(trial, Phase::post) + trial.seconds(Phase::flush);
  return std::min(seconds, trial.open_to_close);
}

double transfer_time(const TrialRecord& trial) {
  return std::min(trial.seconds(Phase::prepare) + raw_time(trial), trial.open_to_close);
}

/// Puts the sections of an API together, and remembers figures that cannot be.
class ApiText {
 public:
  ApiText(const Options& options, double ceiling) : options_(options), ceiling_(ceiling) {}

  void line(const std::string& text) { text_ += fmt::format("{}{}\n", section_indent, text); }

  /// The four throughputs: bytes / shortest, mean, longest and median time.
  void throughput(const std::string& label, const CellRecord& record, const TimeOf& time_of) {
    const auto times = each_trial(record.trials, time_of);
    const TrialSummary seconds = summarise_trials(times);
    const std::uint64_t bytes = record.pattern.bytes;
    line(fmt::format("{} ({} iteration(s)):", label, times.size()));
    figure(label, "Maximum", bytes, seconds.min);
    figure(label, "Average", bytes, seconds.mean);
    figure(label, "Minimum", bytes, seconds.max);
    text_ += fmt::format("{}Median Throughput:  {:6.2f} MB/s{} [{:.2f}, {:.2f}] ({})\n",
                         figure_indent, mib_per_second(bytes, seconds.median),
                         in_seconds(seconds.median), mib_per_second(bytes, seconds.high),
                         mib_per_second(bytes, seconds.low), seconds.interval_name());
    if (options_.debug.level < 3) return;
    text_ +=
        fmt::format("{}Times of the iterations: {:.6f} s\n", figure_indent, fmt::join(times, ", "));
  }

  void time(const std::string& label, const CellRecord& record, const TimeOf& time_of) {
    const TrialSummary seconds = summarise_trials(each_trial(record.trials, time_of));
    line(fmt::format("{} ({} iteration(s)):", label, seconds.trials));
    text_ += fmt::format("{}Accumulated Time using {} file(s): {:7.5f} s [{:.5f}, {:.5f}] ({})\n",
                         figure_indent, options_.files, seconds.median, seconds.low, seconds.high,
                         seconds.interval_name());
  }

  std::string finish() const {
    if (impossible_.empty()) return text_;
    return text_ +
           fmt::format("{}Above what is possible here, {:.2f} MB/s{}: {}\n", section_indent,
                       ceiling_ / mib,
                       options_.ceiling > 0 ? " (--ceiling)" : " (memcpy of all processes at once)",
                       fmt::join(impossible_, ", "));
  }

 private:
  std::string in_seconds(double seconds) const {
    return options_.debug.times ? fmt::format(" ({:7.3f} s)", seconds) : "";
  }

  void figure(const std::string& label, std::string_view which, std::uint64_t bytes,
              double seconds) {
    const double mb = mib_per_second(bytes, seconds);
    text_ += fmt::format("{}{} Throughput: {:6.2f} MB/s{}\n", figure_indent, which, mb,
                         in_seconds(seconds));
    if (mb * mib > ceiling_) impossible_.push_back(fmt::format("{} {}", which, label));
  }

  const Options& options_;
  double ceiling_;
  std::string text_;
  std::vector<std::string> impossible_;
};

TimeOf time_in(Phase phase) {
  return [phase](const TrialRecord& trial) { return until_all(trial, phase); };
}

/// The sections of one direction. `word` is "Write" or "Read", `opens` its first phase.
void add_direction(ApiText& text, const Options& options, const CellRecord& record,
                   const std::string& word, Phase opens) {
  text.throughput(word, record, transfer_time);
  if (options.debug.raw) text.throughput("Raw Data " + word, record, raw_time);
  if (opens == Phase::create) {
    text.time("Dataset Creation and Fill", record, time_in(Phase::define));
  }
  if (options.debug.times) {
    text.time(word + " File Open", record, time_in(opens));
    text.time(word + " File Close", record, time_in(Phase::close));
  }
  text.throughput(word + " Open-Close", record, &TrialRecord::open_to_close);
  if (options.debug.level < 4) return;
  std::vector<std::string> phases;
  for (const auto& [phase, seconds] : record.summary.phases) {
    phases.push_back(fmt::format("{} {:.6f} s", slabmark::name_of(phase), seconds.median));
  }
  text.line(fmt::format(
      "{} timer details: {}; outside the phases {:.6f} s, of it agreements of all processes {:.6f} "
      "s",
      word, fmt::join(phases, ", "), record.summary.overhead.median,
      median(each_trial(record.trials, &TrialRecord::agreements))));
}

/// Of all iterations; the record tells of one.
std::uint64_t verified_bytes(const CellRecord& record) {
  return record.verified.elements * record.trials.size();
}

}  // namespace

std::string format_processes(std::uint64_t processes) {
  return fmt::format("\nNumber of processors = {}\n", processes);
}

std::string format_buffer(const Options& options, std::uint64_t buffer, std::uint64_t processes) {
  const TransferGeometry& g = options.geometry;
  const double bytes = static_cast<double>(dataset_bytes(g, processes));
  const double side = static_cast<double>(g.bytes * processes) / kib;
  std::string shape = fmt::format("{}", buffer);
  if (g.two_dimensional) {
    shape = g.interleaved ? fmt::format("{}x{}", buffer, g.block)
                          : fmt::format("{}x{}", g.block, buffer);
  }
  const std::string size = g.two_dimensional ? fmt::format("{0:.2f}x{0:.2f} KBs", side)
                                             : fmt::format("{:.2f} MBs", bytes / mib);
  return fmt::format(
      "Transfer Buffer Size: {} bytes, File size: {:.2f} MBs\n"
      "      # of files: {}, # of datasets: {}, dataset size: {}\n",
      shape, bytes * static_cast<double>(g.datasets) / mib, options.files, g.datasets, size);
}

std::string format_api(const Options& options, const Point& point,
                       std::span<const CellRecord> records, double ceiling) {
  ApiText text(options, ceiling);
  const bool reads = records.size() > 1;
  add_direction(text, options, records[0], "Write", Phase::create);
  if (reads) add_direction(text, options, records[1], "Read", Phase::open);
  if (records[0].verified.state == Verified::yes) {
    text.line(fmt::format(
        "Verified: {} bytes written{}", verified_bytes(records[0]),
        reads ? fmt::format(", {} bytes read from warm cache", verified_bytes(records[1])) : ""));
  }
  static constexpr Word<Api> headings[] = {
      {"POSIX", Api::posix}, {"MPIO", Api::mpiio}, {"PHDF5 (w/MPI-I/O driver)", Api::phdf5}};
  const auto heading = word_for(point.api, headings);
  return fmt::format("        IO API = {}\n", heading) + text.finish();
}

}  // namespace slabmark::h5perf
