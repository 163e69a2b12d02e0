#include "bench/harness/table.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "core/base/number.hpp"

namespace slabmark {

namespace {

// Three significant digits at least: a slow method must not read as "0".
std::string three_digits(double value) {
  return value >= 100.0 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
}

std::string in_mib(double bytes) { return three_digits(bytes / (1024.0 * 1024.0)); }

bool measured(const CellRecord& record) { return record.unsupported.empty(); }

bool is_bound(const CellRecord& record) { return record.pattern.name == "bound"; }

std::size_t method_width(std::span<const CellRecord> records) {
  std::size_t width = 6;
  for (const CellRecord& record : records) width = std::max(width, record.method.size());
  return width;
}

/// Six characters, whatever the time.
std::string seconds_text(double seconds) {
  const int decimals = seconds < 9.9995 ? 4 : seconds < 99.9995 ? 3 : seconds < 999.995 ? 2 : 0;
  return fmt::format("{:.{}f}", seconds, decimals);
}

/// "-0.4 +12": how far the ends of the interval are from the median, in percent of it.
std::string interval_text(const TrialSummary& seconds) {
  if (seconds.median <= 0.0) return "-";
  const auto percent = [&](double end) {
    const double value = 100.0 * (end / seconds.median - 1.0);
    return fmt::format("{:+.{}f}", value, std::abs(value) < 9.95 ? 1 : 0);
  };
  return percent(seconds.low) + " " + percent(seconds.high);
}

// The upper bound is the faster of those that were measured.
std::string share_text(const CellRecord& record) {
  if (is_bound(record)) return "bound";
  double best = 0.0;
  for (const Bound& bound : record.bounds) {
    if (best == 0.0 || bound.share < best) best = bound.share;
  }
  if (best <= 0.0) return "-";
  return best < 0.0995 ? fmt::format("{:.2g}", 100.0 * best) : fmt::format("{:.0f}", 100.0 * best);
}

constexpr const char* row_format = "{:<{}} {:>7} {:>6} {:>6} {:>6} {:>9} {:>6} {:>5} {}\n";

std::string row(const CellRecord& record, std::size_t width) {
  const TrialSummary& total = record.summary.open_to_close.seconds;
  const auto& rate = record.summary.open_to_close.rate;
  const auto phase = [&](Phase which) { return seconds_text(record.summary.seconds(which)); };
  return fmt::format(fmt::runtime(row_format), record.method, width, phase(Phase::prepare),
                     phase(Phase::post), phase(Phase::flush), seconds_text(total.median),
                     interval_text(total), rate ? in_mib(rate->median) : "-", share_text(record),
                     name_of(record.verified.state));
}

std::string trials_text(std::span<const CellRecord> records) {
  std::uint64_t fewest = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t most = 0;
  for (const CellRecord& record : records) {
    if (!measured(record)) continue;
    fewest = std::min(fewest, record.summary.open_to_close.seconds.trials);
    most = std::max(most, record.summary.open_to_close.seconds.trials);
  }
  if (fewest < most) return fmt::format("{} to {} trials", fewest, most);
  return fmt::format("{} trial{}", most, most == 1 ? "" : "s");
}

std::string explanation(std::span<const CellRecord> records, const CellRecord& first) {
  const bool reads = first.direction == "read";
  std::string notes =
      fmt::format("{}, {} per trial on {} ranks; {} of each method.\n", reads ? "Reads" : "Writes",
                  format_bytes(first.pattern.bytes), first.pattern.ranks, trials_text(records));
  notes += "Seconds of the slowest rank, medians over the trials; total: open to close.\n";
  notes += first.summary.open_to_close.seconds.is_range
               ? "interval: the range in % of the median (a 95 % interval needs 6 trials).\n"
               : "interval: the 95 % interval of the median, in % of it.\n";
  if (std::any_of(records.begin(), records.end(), is_bound)) {
    notes += "share: % of the upper bound, the faster row of the same bytes, contiguous.\n";
  }
  return notes + (reads ? fmt::format("Pages were {} when reading began.\n", first.cache)
                        : fmt::format("Sync (fsync) is {}included.\n", first.sync ? "" : "not "));
}

std::string footnotes(std::span<const CellRecord> records) {
  std::string notes;
  const auto first = std::find_if(records.begin(), records.end(), measured);
  if (first != records.end()) notes += explanation(records, *first);
  for (const CellRecord& record : records) {
    if (measured(record)) continue;
    notes += fmt::format("{}{}: not run: {}\n", record.method, is_bound(record) ? " (bound)" : "",
                         record.unsupported);
  }
  return notes;
}

}  // namespace

std::string format_table(std::span<const CellRecord> records) {
  const std::size_t width = method_width(records);
  std::string text = fmt::format(fmt::runtime(row_format), "method", width, "prepare", "post",
                                 "flush", "total", "interval", "MiB/s", "share", "verified");
  for (const CellRecord& record : records) {
    if (measured(record)) text += row(record, width);
  }
  return text + footnotes(records);
}

std::string format_bars(std::span<const CellRecord> records, std::size_t columns) {
  struct Bar {
    std::string method, text;
    double rate;
  };
  std::vector<Bar> bars;
  double fastest = 0.0;
  std::size_t longest = 0;
  for (const CellRecord& record : records) {
    const auto& rate = record.summary.open_to_close.rate;
    if (!measured(record) || !rate) continue;
    bars.push_back({record.method,
                    fmt::format("{} [{}, {}]{}", in_mib(rate->median), in_mib(rate->low),
                                in_mib(rate->high), is_bound(record) ? " bound" : ""),
                    rate->median});
    fastest = std::max(fastest, rate->median);
    longest = std::max(longest, bars.back().text.size());
  }
  if (fastest == 0.0) return "";
  const std::size_t names = method_width(records);
  const std::size_t beside = names + longest + std::string_view("   ").size();
  const double width = static_cast<double>(std::max(columns, beside + 10) - beside);
  std::string text = fmt::format("{:<{}}  open-to-close rate, MiB/s\n", "", names);
  for (const Bar& bar : bars) {
    const long length = std::max(1l, std::lround(width * bar.rate / fastest));
    text += fmt::format("{:>{}}  ", bar.method, names);
    for (long i = 0; i < length; ++i) text += "█";
    text += fmt::format(" {}\n", bar.text);
  }
  return text;
}

}  // namespace slabmark
