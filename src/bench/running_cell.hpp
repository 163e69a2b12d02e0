#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "bench/buffers.hpp"
#include "bench/cell.hpp"
#include "bench/trial.hpp"
#include "measure/record.hpp"
#include "parallel/comm.hpp"
#include "parallel/deadline.hpp"
#include "storage/mpiio/trial_file.hpp"

namespace slabmark {

/// What the cells of one run share. The references outlive the cells.
struct RunResources {
  const Comm& comm;
  const RunOptions& options;
  Buffers& buffers;
  Deadline& deadline;
};

/// A cell while its trials run: makes the file, measures, verifies, decides when it is enough, and
/// fills the record. All functions are collective.
class RunningCell {
 public:
  /// `cells` is the number of cells that take turns.
  RunningCell(const RunResources& shared, const Cell& cell, std::size_t cells);

  const Cell& cell() const { return cell_; }
  bool finished() const { return !record_.unsupported.empty() || record_.stop.has_value(); }

  /// One trial, the cell's turn number `position` in `round`.
  void run(std::uint64_t round, std::uint64_t position, bool warm_up);

  /// Removes or keeps the file and hands out the completed record. The cell is done after it.
  CellRecord finish();

 private:
  bool reading() const { return cell_.direction == Direction::read; }
  const Pattern& moved() const { return reading() ? *cell_.read : *cell_.written; }

  void make_file_to_read();
  Trial run_write();
  Trial run_read();
  void check_written(bool warm_up);
  void verify_written();
  void note_check(std::uint64_t elements, const std::string& mismatch, const std::string& by);
  void note_memory();
  void decide();

  const RunResources& shared_;
  const Comm& comm_;
  const Cell& cell_;
  CellRecord record_;
  std::unique_ptr<mpiio::TrialFile> file_;
  std::shared_ptr<void> kept_;  ///< by the method, from trial to trial
  double spent_ = 0.0;          ///< seconds in this cell's trials, pauses and verification included
};

}  // namespace slabmark
