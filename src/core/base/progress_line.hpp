#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace slabmark {

/// Seconds that the rest of `total` steps of equal length takes, where the first `done` of them
/// took `elapsed` seconds. Nothing before the first one is done.
std::optional<double> seconds_left(double elapsed, std::uint64_t done, std::uint64_t total);

/// "about 40 s left", "about 12 min left" or "about 2.5 h left".
std::string text_of_seconds_left(double seconds);

/// Called with the number of steps that are done, and of all.
using OnStep = std::function<void(std::uint64_t done, std::uint64_t total)>;

/// Says on standard error what a long command is doing, and about how long it still takes. On a
/// terminal it is one line, which is written over and vanishes at the end. Elsewhere (launchers
/// pass on the output of ranks through pipes), and with NO_COLOR or TERM=dumb, it is a plain line
/// every 30 seconds. For one rank.
class ProgressLine {
 public:
  /// `program` begins each line. A `quiet` one prints nothing.
  explicit ProgressLine(std::string program, bool quiet = false);
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(std::string_view what, std::optional<double> seconds_left);

  /// Shows work of which `done` of `total` steps are done since this line was made. Removes the
  /// line after the last step.
  void show_step(std::string_view what, std::uint64_t done, std::uint64_t total);

  /// An OnStep that shows `what`. The line outlives it.
  OnStep steps_of(std::string what);

  /// Removes the line from a terminal, for output that follows.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  enum class Style { none, one_line, now_and_then };

  std::string program_;
  Style style_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = start_;  ///< when something was printed
  std::string shown_;                ///< on the terminal
};

}  // namespace slabmark
