#pragma once

#include <chrono>

#include "capture/format/coding.hpp"

namespace slabmark::capture {

using Clock = std::chrono::steady_clock;

/// Where the time of the program goes since the last block: to calls, or to thinking between them.
class CallTimes {
 public:
  /// Time from here on is accounted for.
  void begin(Clock::time_point now) { accounted_ = now; }

  /// How long the program has thought before the call that began at `begin`; zero where that is
  /// accounted for, as with another part of the same call or another thread's.
  Clock::duration take_gap(Clock::time_point begin) {
    if (begin <= accounted_) return {};
    const Clock::duration gap = begin - accounted_;
    accounted_ = begin;
    return gap;
  }
  void add_think_time(Clock::duration time) { think_time_ += time; }
  void end_call(Clock::time_point begin, Clock::time_point now) {
    inside_ += now - (accounted_ > begin ? accounted_ : begin);
    accounted_ = now;
  }

  void put(Bytes& to) const {
    for (const Clock::duration time : {think_time_, inside_}) {
      put_varint(to, static_cast<std::uint64_t>(whole(time).count()));
    }
  }
  /// A block with these times has ended. The remainders that put() has rounded off count for the
  /// next block.
  void end_block() {
    for (Clock::duration* const time : {&think_time_, &inside_}) *time -= whole(*time);
  }

 private:
  static std::chrono::microseconds whole(Clock::duration time) {
    return std::chrono::duration_cast<std::chrono::microseconds>(time);
  }

  Clock::time_point accounted_;
  Clock::duration think_time_{}, inside_{};
};

}  // namespace slabmark::capture
