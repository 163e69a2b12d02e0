#include "programs/slice_eval/report.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace slabmark::slice_eval {

namespace {

constexpr double ms = 1e3;

std::string text_of(const std::array<std::uint64_t, 3>& values) {
  return fmt::format("{}", fmt::join(values, " x "));
}

double megabytes(std::uint64_t bytes) { return static_cast<double>(bytes) / 1e6; }

std::string slice_name(const Row& row) { return row.strided ? "strided" : "plain"; }

/// The slowest rank's seconds of a part of each output. A method that tells no parts only writes.
std::vector<double> part_of(const Row& row, const std::string& name) {
  return each_trial(row.record.trials, [span = "post." + name](const TrialRecord& trial) {
    const bool writes = span == "post.write" && !trial.spans.contains(span);
    return writes ? trial.transfer() : trial.span(span);
  });
}

double median_part(const Row& row, const std::string& name) {
  return ms * median(part_of(row, name));
}

std::string figures(const Row& row) {
  const auto& time = row.record.summary.open_to_close.seconds;
  const auto& moved = row.record.effective;
  const auto from_device = moved["bytes_from_device"].get<std::uint64_t>();
  return fmt::format(
      "{:<16} {:<8}{:>9.3f} [{:.3f}, {:.3f}]\n"
      "                 parts (medians) gather {:.3f}  exchange {:.3f}  write {:.3f}  agree {:.3f} "
      " grow {:.3f} ms (mean), close {:.3f} ms once\n"
      "                 an output       touched {:.3f} MB  written {:.3f} MB  file {:.3f} MB  "
      "write calls of the busiest rank {:.2f}{}{}\n",
      row.method, slice_name(row), ms * time.median, ms * time.low, ms * time.high,
      median_part(row, "gather"), median_part(row, "exchange"), median_part(row, "write"),
      median_part(row, "agree"), ms * summarise_trials(part_of(row, "grow")).mean,
      ms * moved["close_seconds"].get<double>(), megabytes(moved["bytes_touched"]),
      megabytes(moved["bytes_written"]),
      megabytes(moved["file_bytes"]) / moved["outputs"].get<double>(),
      moved["write_calls_busiest_rank"].get<double>(),
      from_device == 0 ? "" : fmt::format(", from the GPU {:.3f} MB", megabytes(from_device)),
      row.record.verified.state == Verified::yes ? ", verified" : "");
}

/// Strided over plain, output by output as they took turns.
std::string ratios(std::span<const Row> rows) {
  std::string text;
  for (const auto& strided : rows) {
    const auto one = measured_seconds(strided.record.trials);
    if (!strided.strided || one.empty()) continue;
    for (const auto& plain : rows) {
      const auto other = measured_seconds(plain.record.trials);
      const bool pair = plain.method == strided.method ||
                        (copies_first(strided.method) && plain.method == "append");
      if (plain.strided || !pair || other.empty()) continue;
      std::vector<double> each;
      for (std::size_t i = 0; i < other.size(); ++i) each.push_back(one[i] / other[i]);
      const auto summary = summarise_trials(each);
      text += fmt::format("{:<16} {:.3f} [{:.3f}, {:.3f}]{}\n", strided.method, summary.median,
                          summary.low, summary.high,
                          plain.method == strided.method ? "" : "  over the plain append");
    }
  }
  return text;
}

std::string header(const Options& options) {
  return fmt::format(
      "Field of {} points, {} field{}, blocks {} with a halo of {}, plane {}={}, stride {}, {} "
      "outputs\n",
      text_of(options.grid.points), options.fields, options.fields == 1 ? "" : "s",
      text_of(options.grid.processes), options.grid.halo, axis_names[options.normal],
      options.position, text_of(options.stride), options.outputs);
}

}  // namespace

std::string format_report(const Options& options, std::span<const Row> rows,
                          const std::optional<CellRecord>& regular) {
  auto text = header(options) + "\nmethod           slice      median and 95 % interval, ms\n";
  if (regular) {
    const auto& time = regular->summary.open_to_close.seconds;
    text +=
        fmt::format("{:<16} {:<8}{:>9.3f} [{:.3f}, {:.3f}]   new file each, written {:.3f} MB\n",
                    "regular", options.with_halos ? "+halos" : "field", ms * time.median,
                    ms * time.low, ms * time.high, megabytes(regular->pattern.bytes));
  }
  for (const auto& row : rows) {
    const auto& reason = row.record.unsupported;
    text += reason.empty()
                ? figures(row)
                : fmt::format("{:<16} {:<8} left out: {}\n", row.method, slice_name(row), reason);
  }
  text += "\nstrided over plain, median of the ratios and 95 % interval\n" + ratios(rows);
  return text;
}

}  // namespace slabmark::slice_eval
