#include "bench/harness/table.hpp"

#include <algorithm>
#include <cmath>

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

std::string label(const CellRecord& record) {
  // A bound moves other bytes through the same method, so the method's name alone would mislead.
  return record.pattern.name == "bound" ? record.method + " (limit)" : record.method;
}

std::size_t label_width(std::span<const CellRecord> records) {
  std::size_t width = 6;
  for (const CellRecord& record : records) width = std::max(width, label(record).size());
  return width;
}

// The limit is the faster of the bounds.
std::string share_of_limit(const CellRecord& record) {
  double best = 0.0;
  for (const Bound& bound : record.bounds) {
    if (best == 0.0 || bound.share < best) best = bound.share;
  }
  return best > 0.0 ? three_digits(100.0 * best) + " %" : "-";
}

std::string row(const CellRecord& record, std::size_t width) {
  const TrialSummary& total = record.summary.open_to_close.seconds;
  const auto& rate = record.summary.open_to_close.rate;
  return fmt::format(
      "{:<{}} {:>9.4f} {:>9.4f} {:>9.4f} {:>9.4f} [{:.4f}, {:.4f}] {:>10} {:>8} {:>6}  {}\n",
      label(record), width, record.summary.seconds(Phase::prepare),
      record.summary.seconds(Phase::post), record.summary.seconds(Phase::flush), total.median,
      total.low, total.high, rate ? in_mib(rate->median) : "-", share_of_limit(record),
      total.trials, name_of(record.verified.state));
}

std::string footnotes(std::span<const CellRecord> records) {
  std::string notes;
  const auto first = std::find_if(records.begin(), records.end(), measured);
  if (first != records.end()) {
    notes += fmt::format(
        "{}, {} a trial on {} ranks. Seconds of the slowest rank, medians over the trials,\n",
        first->direction == "read" ? "Reads" : "Writes", format_bytes(first->pattern.bytes),
        first->pattern.ranks);
    notes += first->summary.open_to_close.seconds.is_range
                 ? "in brackets the range (fewer than 6 trials have no 95 % interval).\n"
                 : "in brackets the 95 % interval of the median.\n";
    notes += first->direction == "read"
                 ? fmt::format("Pages were {} when reading began.\n", first->cache)
                 : fmt::format("Sync (fsync) is {}included.\n", first->sync ? "" : "not ");
  }
  for (const CellRecord& record : records) {
    if (!measured(record))
      notes += fmt::format("{}: not run: {}\n", label(record), record.unsupported);
  }
  return notes;
}

}  // namespace

std::string format_table(std::span<const CellRecord> records) {
  const std::size_t width = label_width(records);
  std::string text = fmt::format("{:<{}} {:>9} {:>9} {:>9} {:>26} {:>10} {:>8} {:>6}  {}\n",
                                 "method", width, "prepare", "post", "flush", "open-to-close (s)",
                                 "MiB/s", "of limit", "trials", "verified");
  for (const CellRecord& record : records) {
    if (measured(record)) text += row(record, width);
  }
  return text + footnotes(records);
}

std::string format_bars(std::span<const CellRecord> records, int width) {
  double fastest = 0.0;
  for (const CellRecord& record : records) {
    const auto& rate = record.summary.open_to_close.rate;
    if (measured(record) && rate) fastest = std::max(fastest, rate->median);
  }
  if (fastest == 0.0) return "";
  const std::size_t names = label_width(records);
  std::string text = fmt::format("{:<{}}  open-to-close rate, MiB/s\n", "", names);
  for (const CellRecord& record : records) {
    const auto& rate = record.summary.open_to_close.rate;
    if (!measured(record) || !rate) continue;
    const int length = std::max(1, static_cast<int>(std::lround(width * rate->median / fastest)));
    std::string bar;
    for (int i = 0; i < length; ++i) bar += "█";
    text += fmt::format("{:>{}}  {} {} [{}, {}]\n", label(record), names, bar, in_mib(rate->median),
                        in_mib(rate->low), in_mib(rate->high));
  }
  return text;
}

}  // namespace slabmark
