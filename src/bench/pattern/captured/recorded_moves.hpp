#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "bench/pattern/captured/captured_pattern.hpp"
#include "bench/pattern/captured/overlaps.hpp"
#include "bench/pattern/captured/round_order.hpp"
#include "bench/pattern/captured/selections.hpp"

namespace slabmark {

/// A transfer before datasets are numbered.
struct Move {
  RoundKey round;
  std::uint64_t path = 0;
  std::uint64_t definition = 0;
  std::uint64_t time = 0;

  auto operator<=>(const Move&) const = default;
};

/// The common calls of some recorded ranks.
class RecordedMoves {
 public:
  RecordedMoves(const CapturedRun& run, Selections& selections)
      : run_(run), selections_(selections) {}

  void add(std::uint64_t recorded_rank);

  /// In the order in which they first came.
  const std::vector<Move>& moves() const { return order_; }
  /// Null: they do nothing of it.
  const EachOnce* selection(const Move& move) const {
    const auto found = parts_.find(move);
    return found == parts_.end() ? nullptr : &selections_.together(found->second);
  }
  /// Its parts in the order of calls. The epochs of calls are left to the caller: what they share
  /// is the round.
  MovedStream stream(const Move& move) const {
    const auto found = parts_.find(move);
    return found == parts_.end() ? MovedStream{} : MovedStream{found->second, calls_.at(move)};
  }
  /// From which round it came to which, in the order in which that first was so.
  const std::vector<RoundStep>& steps() const { return steps_; }
  /// Numbers that all recorded ranks have in common if their common calls are in the same rounds.
  std::uint64_t least_together() const { return least_together_; }
  std::uint64_t most_together() const { return most_together_; }
  double think_time(const RoundKey& round) const {
    const auto found = think_times_.find(round);
    return found == think_times_.end() ? 0.0 : found->second;
  }

 private:
  struct Pending {
    bool is_all = false;
    std::size_t rank = 0;
    std::vector<std::int64_t> numbers;
  };

  void add_step(const RoundStep& step) {
    if (known_steps_.insert(step).second) steps_.push_back(step);
  }

  void add(CapturedWalk& walk, const PlacedBoxes& placed);
  void note_call(const Move& move, const CallStamp& stamp, std::uint64_t elements);

  void finish();

  const CapturedRun& run_;
  Selections& selections_;
  std::vector<Move> order_;
  std::map<Move, Pending> pending_;
  std::map<Move, std::vector<SelectionPtr>> parts_;
  std::map<Move, std::vector<std::pair<CallStamp, std::uint64_t>>> calls_;
  std::uint64_t collective_calls_ = 0;  ///< of the recorded rank at hand
  std::map<RoundKey, double> think_times_;
  std::vector<RoundStep> steps_;
  std::set<RoundStep> known_steps_;
  std::uint64_t least_together_ = ~std::uint64_t{0}, most_together_ = 0;
};

}  // namespace slabmark
