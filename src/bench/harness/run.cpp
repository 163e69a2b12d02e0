#include "bench/harness/run.hpp"

#include <algorithm>
#include <memory>
#include <set>

#include <fmt/format.h>

#include "bench/harness/running_cell.hpp"
#include "bench/harness/trial_file.hpp"
#include "bench/measure/order.hpp"
#include "core/base/error.hpp"

namespace slabmark {

namespace {

void refuse_shared_paths(std::span<const Cell> cells) {
  std::set<std::string> paths;
  for (const Cell& cell : cells) {
    if (cell.after || paths.insert(cell.path).second) continue;
    throw InputError(fmt::format(
        "Method {} was asked for twice, and both would write '{}'; name each method once.",
        cell.method->name, cell.path));
  }
}

void enter_bounds(std::vector<CellRecord>& records, std::span<const Cell> cells) {
  for (std::size_t b = 0; b < cells.size(); ++b) {
    if (!cells[b].is_bound || records[b].trials.empty()) continue;
    const double limit = records[b].summary.open_to_close.seconds.median;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (cells[i].is_bound || records[i].trials.empty()) continue;
      if (cells[i].direction != cells[b].direction) continue;
      if (records[i].pattern.bytes != records[b].pattern.bytes) continue;
      const double seconds = records[i].summary.open_to_close.seconds.median;
      records[i].bounds.push_back({records[b].method, records[b].pattern.bytes, limit,
                                   seconds > 0 ? limit / seconds : 0.0});
    }
  }
}

std::vector<std::size_t> turns(TrialOrder& order, const RunOptions& options, bool first_round) {
  std::vector<std::size_t> cells = order.next_round();
  if (first_round && options.first_round_in_order) std::sort(cells.begin(), cells.end());
  return cells;
}

/// For root.
std::optional<double> seconds_left(std::span<const std::unique_ptr<RunningCell>> cells) {
  double sum = 0.0;
  for (const auto& cell : cells) {
    const auto left = cell->seconds_left();
    if (!left) return std::nullopt;
    sum += *left;
  }
  return sum;
}

}  // namespace

std::vector<CellRecord> run_cells(const Comm& comm, std::span<const Cell> cells,
                                  const RunOptions& options, const Progress& progress) {
  refuse_shared_paths(cells);
  for (const Cell& cell : cells) {
    if (cell.existing || cell.after) continue;
    for (std::uint64_t i = 0; i < file_count(*cell.written); ++i) {
      require_free_path(comm, file_path(*cell.written, cell.path, i),
                        {.overwrite = options.overwrite,
                         .choice = options.output_choice,
                         .inputs = options.inputs,
                         .records = options.records},
                        format_of(cell, *cell.written).companions);
    }
  }

  Deadline deadline(options.deadline);
  deadline.watch("The time before the first phase");
  Buffers buffers;
  const RunResources shared{comm, options, buffers, deadline};
  std::vector<std::unique_ptr<RunningCell>> running;
  for (const Cell& cell : cells) {
    running.push_back(std::make_unique<RunningCell>(shared, cell, cells.size()));
  }

  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (cells[i].after)
      running[static_cast<std::size_t>(cells[i].after - cells.data())]->let_read(*running[i]);
  }

  TrialOrder order(cells.size(), options.seed);
  const auto all_finished = [&] {
    return std::all_of(running.begin(), running.end(),
                       [](const auto& cell) { return cell->finished(); });
  };
  const std::uint64_t first_round = options.warm_up ? 0 : 1;
  for (std::uint64_t round = first_round; !all_finished(); ++round) {
    const bool warm_up = round == 0;
    std::uint64_t position = 0;
    for (const std::size_t index : turns(order, options, round == first_round)) {
      RunningCell& cell = *running[index];
      if (cell.finished()) continue;
      if (comm.is_root() && progress.trial_begins) {
        progress.trial_begins(cell.cell(), round, warm_up, seconds_left(running));
      }
      cell.run(round, position++, warm_up);
    }
  }

  std::vector<CellRecord> records;
  for (const auto& cell : running) records.push_back(cell->finish());
  if (comm.is_root()) enter_bounds(records, cells);
  return records;
}

}  // namespace slabmark
