#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "bench/harness/cell.hpp"
#include "bench/harness/cell_file.hpp"
#include "bench/harness/trial_file.hpp"
#include "bench/measure/record.hpp"
#include "core/parallel/comm.hpp"

namespace slabmark {

/// A cell while its trials run: makes the files, measures, verifies, decides when it is enough, and
/// fills the record. All functions are collective.
class RunningCell {
 public:
  /// `cells` is the number of cells that take turns.
  RunningCell(const RunResources& shared, const Cell& cell, std::size_t cells);

  const Cell& cell() const { return cell_; }
  bool finished() const {
    return cell_.after || !record_.unsupported.empty() || record_.stop.has_value();
  }

  /// For root: about how long the trials that are still to come take. Nothing before the first one.
  std::optional<double> seconds_left() const;

  /// `reader`, whose cell reads after this one, takes part in each trial.
  void let_read(RunningCell& reader);

  /// One trial, the cell's turn number `position` in `round`.
  void run(std::uint64_t round, std::uint64_t position, bool warm_up);

  /// Completes, removes or keeps the files and hands out the completed record. The cell is done
  /// after it.
  CellRecord finish();

 private:
  bool reading() const { return cell_.direction == Direction::read; }
  const Pattern& moved() const { return reading() ? *cell_.read : *cell_.written; }
  bool appended() const { return moved().file_policy == FilePolicy::appended; }

  void require_rounds() const;
  std::string path_of(std::uint64_t i) const;
  void make_file(std::uint64_t i);
  void begin_written(CellFile& file);
  void make_files_to_read();
  void begin_trial();
  void move_file(std::uint64_t i, bool warm_up);
  void move_round(std::uint64_t round);
  void end_trial(std::uint64_t round, std::uint64_t position, bool warm_up);
  void finish_open_file();
  void drop_pages(const std::string& path);
  void verify_written(const Pattern& pattern, const std::string& path);
  void verify_read(const CellFile& file, const std::string& path);
  void note_check(const std::string& path, std::uint64_t elements, const std::string& mismatch,
                  const std::string& by);
  void note_memory();
  void decide();

  const RunResources& shared_;
  const Comm& comm_;
  const Cell& cell_;
  const FormatInfo format_;
  CellRecord record_;
  RunningCell* reader_ = nullptr;
  std::deque<TrialFile> files_;   ///< that stand
  std::optional<CellFile> open_;  ///< of rounds that are appended
  RankTimes once_;                ///< of that file, outside the trials
  RankTimes times_;               ///< of the running trial
  std::shared_ptr<void> kept_;    ///< by the method, from file to file
  double spent_ = 0.0;  ///< seconds in this cell's trials, pauses and verification included
};

}  // namespace slabmark
