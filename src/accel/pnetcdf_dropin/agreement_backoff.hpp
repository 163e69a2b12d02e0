#pragma once

#include <algorithm>

namespace slabmark::dropin {

/// The blocking collective calls that pass through to PnetCDF without asking the other ranks: a
/// program whose calls all bring few requests shall not pay a reduction for each. After a row of
/// calls that passed through, one in sixteen is asked about, then one in 32, and so on: the calls
/// that pass unasked are never more than twice those that passed before. All ranks count alike,
/// since all make the same collective calls and hear the same answers.
class AgreementBackoff {
 public:
  /// Counts the next call, to which this rank brings work for a plan, or not. Returns whether it
  /// passes unasked.
  bool next(bool is_work) {
    if (left_ == 0) return false;
    --left_;
    missed_ = missed_ || is_work;
    return true;
  }

  /// True if the next call passes unasked.
  bool is_next() const { return left_ > 0; }

  /// True if this rank had work for a plan in a call that passed unasked. Once one had, all calls
  /// of the program are asked about.
  bool missed() const { return missed_; }

  /// Tells what all ranks heard about a call.
  void heard(bool passed_through, bool some_rank_missed) {
    if (some_rank_missed) is_off_ = true;
    in_a_row_ = passed_through ? in_a_row_ + 1 : 0;
    if (in_a_row_ == 0) unasked_ = fewest;
    if (in_a_row_ < row || is_off_) return;
    left_ = unasked_;
    unasked_ = std::min(2 * unasked_ + 1, most);
  }

 private:
  static constexpr int row = 16, fewest = 15, most = 255;

  int in_a_row_ = 0;
  int unasked_ = fewest;  ///< calls, after the next row
  int left_ = 0;
  bool missed_ = false;
  bool is_off_ = false;
};

}  // namespace slabmark::dropin
