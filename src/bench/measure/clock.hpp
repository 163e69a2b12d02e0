#pragma once

#include <array>
#include <chrono>
#include <exception>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "bench/measure/phase.hpp"
#include "core/parallel/comm.hpp"
#include "core/parallel/deadline.hpp"

namespace slabmark {

/// One rank's seconds in one call of PhaseClock::time().
struct PhasePart {
  Phase phase = Phase::create;
  double seconds = 0.0;
  /// Until this rank knew that all had ended. On a machine with fewer cores than ranks a rank may
  /// begin when another has ended, so that the longest of their own seconds is less than all of
  /// them took; the longest of these is not.
  double until_all = 0.0;
};

/// One rank's seconds in one trial.
struct RankTimes {
  std::array<double, phase_count> phase{};  ///< indexed by Phase
  std::map<std::string, double> spans;      ///< named parts of a phase, "create.reopen"
  double open_to_close = 0.0;               ///< without the pauses
  /// The phases part by part, in the same order on all ranks. A phase of many rounds lasts as long
  /// as the slowest ranks of its parts together, which no rank's own sum tells.
  std::vector<PhasePart> parts;

  double operator[](Phase p) const { return phase[static_cast<std::size_t>(p)]; }

  /// For a trial of several passes, such as over several files: adds those of another pass.
  RankTimes& operator+=(const RankTimes& more);
};

/// Clock of one trial. Phases start together on all ranks and each rank's duration is its own, on
/// the monotonic clock; time stamps of different hosts are never subtracted. Between phases all
/// ranks agree that none failed, which is also the common start of the next phase.
class PhaseClock {
 public:
  /// `deadline`, where given, watches over each phase and what lies between; it outlives the
  /// clock, and whoever has made it watches something else afterwards.
  explicit PhaseClock(const Comm& comm, Deadline* deadline = nullptr)
      : comm_(comm), deadline_(deadline) {}

  /// Runs `work` as (a further part of) `phase`. Collective. If `work` throws on any rank, every
  /// rank throws the agreed Error.
  void time(Phase phase, const std::function<void()>& work);

  /// Runs `work` with the clock stopped: filling and checking buffers is not the method's time.
  /// Collective, with the same agreement.
  void pause(const std::function<void()>& work);

  /// Adds to the named span of the running phase ("reopen" in Phase::create is "create.reopen").
  /// Not collective; called by methods.
  void span(const std::string& name, const std::function<void()>& work);

  /// Adds `seconds` to the named span: for a sum over very many short calls.
  void add_to_span(const std::string& name, double seconds);

  const RankTimes& times() const { return times_; }

  /// Hands out the times so far and begins another trial, of the same object.
  RankTimes take_times();

 private:
  using steady = std::chrono::steady_clock;

  void watch(std::string_view work);
  void agree_or_end_soon(std::exception_ptr failure) const;

  const Comm& comm_;
  Deadline* deadline_;
  RankTimes times_;
  Phase current_ = Phase::create;
  bool running_ = false;
  double before_pause_ = 0.0;     ///< open-to-close seconds up to the last pause
  steady::time_point resumed_{};  ///< when the clock last started
};

}  // namespace slabmark
