#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "bench/harness/cell.hpp"
#include "bench/measure/record.hpp"
#include "core/parallel/comm.hpp"

namespace slabmark {

/// Told of progress, on root only.
struct Progress {
  /// Before each trial. `seconds_left` is an estimate for all cells, from the trials so far; there
  /// is none before each cell has had a trial.
  std::function<void(const Cell& cell, std::uint64_t trial, bool warm_up,
                     std::optional<double> seconds_left)>
      trial_begins;
};

/// Runs all cells, their trials interleaved round by round in random order, and returns one record
/// a cell, in the order of the cells (complete on root, skeletons elsewhere). Cells whose method
/// does not support their pattern have the reason and no trials. The bounds are entered into the
/// records of all other cells.
///
/// Collective. Before anything is created, all paths are checked. A failing call, or contents that
/// do not verify, end the run with an agreed Error: no figure exists for I/O that failed. Files are
/// removed, also then, unless options.keep.
std::vector<CellRecord> run_cells(const Comm& comm, std::span<const Cell> cells,
                                  const RunOptions& options, const Progress& progress = {});

}  // namespace slabmark
