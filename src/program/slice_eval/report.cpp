#include "program/slice_eval/report.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace slabmark::slice_eval {

namespace {

constexpr double ms = 1e3;

std::string text_of(const std::array<std::uint64_t, 3>& values) {
  return fmt::format("{}", fmt::join(values, " x "));
}

double megabytes(std::uint64_t bytes) { return static_cast<double>(bytes) / 1e6; }

std::string slice_name(const Row& row) { return row.strided ? "strided" : "plain"; }

std::string figures(const Row& row) {
  const auto time = summarise_trials(row.seconds);
  const auto& part = row.slowest;
  return fmt::format(
      "{:<16} {:<8}{:>9.3f} [{:.3f}, {:.3f}]\n"
      "                 parts (medians) gather {:.3f}  exchange {:.3f}  write {:.3f}  agree {:.3f} "
      " "
      "grow {:.3f} ms (mean), close {:.3f} ms once\n"
      "                 an output       touched {:.3f} MB  written {:.3f} MB  file {:.3f} MB  "
      "write "
      "calls of the busiest rank {:.2f}{}\n",
      row.method, slice_name(row), ms * time.median, ms * time.low, ms * time.high,
      ms * part.gather, ms * part.exchange, ms * part.write, ms * part.agree, ms * part.grow,
      ms * row.finish, megabytes(part.bytes_touched), megabytes(part.bytes_written),
      megabytes(row.file_bytes) / static_cast<double>(row.outputs), row.kernel_writes,
      row.verified > 0 ? ", verified" : "");
}

/// Strided over plain, output by output as they took turns.
std::string ratios(std::span<const Row> rows) {
  std::string text;
  for (const auto& strided : rows) {
    if (!strided.strided || strided.seconds.empty()) continue;
    for (const auto& plain : rows) {
      const bool pair = plain.method == strided.method ||
                        (copies_first(strided.method) && plain.method == "append");
      if (plain.strided || !pair || plain.seconds.empty()) continue;
      std::vector<double> each;
      for (std::size_t i = 0; i < plain.seconds.size(); ++i) {
        each.push_back(strided.seconds[i] / plain.seconds[i]);
      }
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
                    "regular", "field", ms * time.median, ms * time.low, ms * time.high,
                    megabytes(regular->pattern.bytes));
  }
  for (const auto& row : rows) {
    text += row.left_out.empty() ? figures(row)
                                 : fmt::format("{:<16} {:<8} left out: {}\n", row.method,
                                               slice_name(row), row.left_out);
  }
  text += "\nstrided over plain, median of the ratios and 95 % interval\n" + ratios(rows);
  return text;
}

std::string format_json(const Options& options, const Row& row, int ranks) {
  const auto& part = row.slowest;
  const nlohmann::json json = {{"program", "slice_eval"},
                               {"grid", options.grid.points},
                               {"processes", options.grid.processes},
                               {"ranks", ranks},
                               {"halo", options.grid.halo},
                               {"normal", std::string(1, axis_names[options.normal])},
                               {"position", options.position},
                               {"stride", options.stride},
                               {"fields", options.fields},
                               {"type", name_of(options.type)},
                               {"method", row.method},
                               {"slice", slice_name(row)},
                               {"left_out", row.left_out},
                               {"seconds", row.seconds},
                               {"parts",
                                {{"gather", part.gather},
                                 {"exchange", part.exchange},
                                 {"write", part.write},
                                 {"agree", part.agree},
                                 {"grow", part.grow}}},
                               {"finish", row.finish},
                               {"bytes_touched", part.bytes_touched},
                               {"bytes_written", part.bytes_written},
                               {"kernel_writes", row.kernel_writes},
                               {"outputs", row.outputs},
                               {"data_bytes", row.data_bytes},
                               {"file_bytes", row.file_bytes},
                               {"file_count", row.file_count},
                               {"verified", row.verified}};
  return json.dump() + "\n";
}

}  // namespace slabmark::slice_eval
