#pragma once

#include <chrono>

#include "core/json/json.hpp"
#include "core/parallel/comm.hpp"

namespace slabmark {

/// True if the clocks of all ranks run at the same rate, from the making of the object on. Times of
/// different ranks are not subtracted: what lies between the end of one meeting of all ranks and
/// the begin of another is, on no rank, longer than what lies between the begin of the one and the
/// end of the other on any rank. So however late a busy machine lets ranks run, only a clock that
/// is wrong can say otherwise.
class ClockCheck {
 public:
  explicit ClockCheck(const Comm& comm);  ///< collective

  /// Collective over any of these ranks. On root, {"seconds": 1.5, "disagreement": null}, or, where
  /// a clock is off by `tolerance` or more, {"rank": 1, "host": "n1", "rate": 2.0, "against":
  /// "its realtime clock"}. Null elsewhere.
  Json compare(const Comm& comm) const;

  static constexpr double tolerance = 0.02;

 private:
  using Monotonic = std::chrono::steady_clock::time_point;
  using Realtime = std::chrono::system_clock::time_point;

  /// The realtime clock, between two readings of the monotonic one.
  struct Reading {
    Monotonic before, after;
    Realtime realtime;

    static Reading now();
  };
  struct Meeting {
    Monotonic begin, end;
  };

  static Meeting meet(const Comm& comm);
  static double rate_between(const Reading& first, const Reading& last);

  Reading first_;
  Meeting met_;
};

}  // namespace slabmark
