#include "programs/seism-core-slice/report.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "programs/seism-core-slice/options.hpp"

namespace slabmark::seism_core_slice {

namespace {

template <class Value>
std::string line(std::string_view label, const Value& value, std::string_view unit = "") {
  return fmt::format("{:<32}{}{}\n", fmt::format("{}:", label), value, unit);
}

// Six digits, as the original printed.
std::string seconds_line(std::string_view label, double seconds) {
  return line(label, fmt::format("{:.6g}", seconds), " s");
}

std::string rate_line(std::string_view label, std::uint64_t bytes, double seconds) {
  return line(label, fmt::format("{:.6g}", mib_per_second(bytes, seconds)), " MB/s");
}

/// Median over the trials of the slowest rank's seconds.
double span_seconds(const CellRecord& record, const std::string& name) {
  return median(each_trial(record.trials, [&](const auto& trial) { return trial.span(name); }));
}

double creation_seconds(const CellRecord& record) {
  return record.summary.seconds(Phase::create) + record.summary.seconds(Phase::define);
}

std::string triple(const std::array<std::uint64_t, 3>& lengths) {
  return fmt::format("{} x {} x {}", lengths[0], lengths[1], lengths[2]);
}

/// "1 (chunk collective)", "0 (chunk independent; deflate ...)": HDF5's own word on its calls.
std::string collectivity(const CellRecord& record, bool asked) {
  std::vector<std::string> modes;
  bool is_collective = true;
  const auto calls_by_mode = record.effective.value("io_mode", Json::object());
  for (const auto& [mode, calls] : calls_by_mode.items()) {
    modes.push_back(mode);
    if (mode != "chunk collective" && mode != "contiguous collective") is_collective = false;
  }
  std::vector<std::string> causes;
  if (!asked) {
    causes.emplace_back("not asked for");
  } else if (!is_collective) {
    const auto known = record.effective.value("no_collective_cause", Json::array());
    for (const auto& cause : known) {
      causes.push_back(cause.get<std::string>());
    }
  }
  return fmt::format("{} ({}{}{})", is_collective && !modes.empty() ? 1 : 0, fmt::join(modes, ", "),
                     causes.empty() ? "" : "; ", fmt::join(causes, ", "));
}

std::string creation_lines(const CheckpointSettings& settings, const CellRecord& record) {
  if (!settings.precreate) return seconds_line("Create/open", creation_seconds(record));
  return seconds_line("Pre-create/open", creation_seconds(record)) +
         seconds_line("Time in precreate_0()", span_seconds(record, "create.precreate")) +
         seconds_line("Time in H5Fopen()", span_seconds(record, "create.reopen")) +
         seconds_line("Time in H5Dopen()", record.summary.seconds(Phase::define));
}

std::string sync_lines(const CellRecord& record) {
  if (!record.sync) return line("Flush and sync", "not measured apart; --sync does");
  return seconds_line("Flush", span_seconds(record, "sync.flush")) +
         seconds_line("Sync", span_seconds(record, "sync.fsync"));
}

std::string trial_lines(const CellRecord& record) {
  const TrialSummary& total = record.summary.open_to_close.seconds;
  if (total.trials < 2) return "";
  return line(
      "Trials",
      fmt::format("{}; all times are medians; create to close {:.6g} s, {} [{:.6g}, {:.6g}]",
                  total.trials, total.median, total.interval_name(), total.low, total.high));
}

}  // namespace

std::string format_echo(const CheckpointSettings& settings) {
  std::string text = std::string(69, '=') + "\n";
  text += line("Number of processes", settings.grid.blocks());
  text += line("Process layout", triple(settings.grid.processor));
  text += line("Per process grid", triple(settings.grid.domain));
  if (settings.grid.chunk[0] > 0) text += line("Chunk dimensions", triple(settings.grid.chunk));
  if (settings.n_nodes > 0) text += line("n_nodes", settings.n_nodes);
  text += line("Number of time steps", settings.grid.steps);
  text += line("Pre-create", settings.precreate ? 1 : 0);
  text += line("Collective I/O requested", settings.collective_write ? 1 : 0);
  text += line("Collective metadata requested", settings.set_collective_metadata ? 1 : 0);
  text += line("Early allocation", allocates_early(settings) ? 1 : 0);
  text += line("H5D_FILL_TIME_NEVER set", settings.never_fill ? 1 : 0);
  text += line("Deflate", settings.deflate);
  text += line("Subfile", settings.subfile);
  text += line("ZFP", settings.zfp);
  text += line("stripe size", settings.lfs_stripe_size);
  text += line("stripe count", settings.lfs_stripe_count);
  text += line("Output filename", settings.filename);
  if (!settings.use_function_name.empty()) {
    text += line("Fill function", fmt::format("{}({}) of {}", settings.use_function_name,
                                              fmt::join(settings.function_arguments(), ", "),
                                              settings.use_function_lib));
  }
  return text + "\n";
}

std::string format_results(const CheckpointSettings& settings, const CellRecord& record) {
  const std::uint64_t bytes = record.pattern.bytes;
  const double write = record.summary.transfer.seconds.median;
  const double total = record.summary.open_to_close.seconds.median;
  std::string text = creation_lines(settings, record);
  text += seconds_line("Write", write);
  text += rate_line("Write throughput", bytes, write);
  text += sync_lines(record);
  text += seconds_line("Close file", record.summary.seconds(Phase::close));
  text += rate_line("Aggregate throughput", bytes, total);
  text += line("Collective I/O", collectivity(record, settings.collective_write));
  text += line("Mdata ops actually collective",
               record.effective.value("collective_metadata", false) ? 1 : 0);
  text += line("Total bytes written", bytes);
  text +=
      line("Compressed size in bytes", record.effective.value("storage_bytes", std::uint64_t{0}));
  text += trial_lines(record);
  if (record.verified.state == Verified::yes) {
    text += line("Verified", fmt::format("yes, {} elements", record.verified.elements));
  }
  return text + line("MB", "2^20 bytes");
}

Json facts_of(const CellRecord& record) {
  return {{"mpi_ranks", record.pattern.ranks},
          {"bytes", record.pattern.bytes},
          {"storage_bytes", record.effective.value("storage_bytes", std::uint64_t{0})},
          {"trials", record.summary.open_to_close.seconds.trials},
          {"seconds_create", creation_seconds(record)},
          {"seconds_write", record.summary.transfer.seconds.median},
          {"seconds_sync", record.summary.seconds(Phase::sync)},
          {"seconds_close", record.summary.seconds(Phase::close)},
          {"seconds_create_to_close", record.summary.open_to_close.seconds.median}};
}

}  // namespace slabmark::seism_core_slice
