#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/harness/buffers.hpp"
#include "bench/harness/cell.hpp"
#include "bench/measure/clock.hpp"
#include "bench/method/timed_file.hpp"
#include "bench/pattern/content.hpp"
#include "core/json/json.hpp"
#include "core/parallel/deadline.hpp"

namespace slabmark {

/// The state that the cells of one run share. The references outlive the cells.
struct RunResources {
  const Comm& comm;
  const RunOptions& options;
  Buffers& buffers;
  Deadline& deadline;
};

/// One file of a cell, written or read: its buffers are made ready before, and checked after, each
/// group of rounds, with the clock stopped. All functions are collective.
class CellFile {
 public:
  /// `pattern` is what the file holds. `kept`: of the files of one cell, see MethodContext.
  CellFile(const RunResources& shared, const Cell& cell, const Pattern& pattern,
           Direction direction, std::shared_ptr<void>* kept);

  /// Up to where rounds move. `created`: see TimedFile.
  void begin(const std::string& path, const std::function<void()>& created = nullptr);

  /// Moves the rounds [first, end).
  void move(std::uint64_t first, std::uint64_t end);

  void sync() { file_.sync(); }
  void end() { effective_ = file_.end(); }

  RankTimes take_times() { return clock_.take_times(); }  ///< since they were last taken
  const Json& effective() const { return effective_; }    ///< after end()
  /// Of a read: the first of this rank's wrong elements, and how many were compared on this rank.
  const std::optional<Mismatch>& mismatch() const { return mismatch_; }
  std::uint64_t checked() const { return checked_; }

 private:
  void make_ready(std::uint64_t first, std::uint64_t end);
  void fill(std::uint64_t first);
  void wipe();
  void check();

  const RunResources& shared_;
  const Cell& cell_;
  const Pattern& pattern_;
  const Direction direction_;
  PhaseClock clock_;
  TimedFile file_;
  RoundGroup group_;
  std::vector<std::byte*> buffers_;     ///< of the group, transfer by transfer
  std::optional<std::uint64_t> ready_;  ///< first round of the group that is ready to move
  std::vector<Transfer> filled_;        ///< what the buffers hold already
  Json effective_;
  std::optional<Mismatch> mismatch_;
  std::uint64_t checked_ = 0;
};

}  // namespace slabmark
