#include "bench/pattern/captured/recorded_moves.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "capture/format/event_flags.hpp"
#include "core/base/checksum.hpp"

namespace slabmark {

void RecordedMoves::add(std::uint64_t recorded_rank) {
  CapturedWalk walk = run_.walk(recorded_rank);
  double think_time = 0;
  constexpr double microsecond = 1e-6;
  Checksum rounds_of_all;
  std::optional<RoundKey> last;
  collective_calls_ = 0;
  while (walk.next()) {
    const CapturedEvent& event = walk.event();
    const bool is_collective =
        event.moves() && event.has(capture::collective) && walk.is_made_by_all();
    if (is_collective && !event.has(capture::one_more_part)) ++collective_calls_;
    // A nonblocking call is made where its requests are waited for.
    const bool is_posted = event.has(capture::nonblocking);
    const CallStamp stamp{0, is_collective && !is_posted ? collective_calls_ : 0, is_posted};
    if (event.begins_block) think_time += static_cast<double>(event.think_time) * microsecond;
    const RoundKey& round = walk.round();
    if (run_.shapes.moved_paths.contains(walk.path()) && walk.orders_rounds()) {
      if (walk.is_made_by_all()) rounds_of_all.add(round.file).add(round.phase).add(round.time);
      if (last != round) add_step({last.value_or(round), round});
      // A call is in one round with all its parts.
      if (event.has(capture::one_more_part)) add_step({round, *last});
      last = round;
    }
    for (const PlacedBoxes& placed : walk.placed()) {
      think_times_[round] += std::exchange(think_time, 0.0);
      add(walk, placed);
      note_call({placed.round, placed.path, placed.definition, placed.time}, stamp,
                placed.elements);
    }
    if (!pending_.empty() && walk.effect() != "write" && walk.effect() != "read") finish();
  }
  finish();
  least_together_ = std::min(least_together_, rounds_of_all.value());
  most_together_ = std::max(most_together_, rounds_of_all.value());
}

void RecordedMoves::add(CapturedWalk& walk, const PlacedBoxes& placed) {
  const Move move{placed.round, placed.path, placed.definition, placed.time};
  if (parts_.find(move) == parts_.end() && pending_.find(move) == pending_.end())
    order_.push_back(move);
  // All of a dataset stands for itself, so that the order stays.
  const bool is_all = placed.is_all || placed.rank == 0;
  const auto before = pending_.find(move);
  if (before != pending_.end() && (is_all || before->second.is_all)) finish();
  Pending& pending = pending_[move];
  pending.rank = placed.rank;
  if (is_all) {
    pending.is_all = true;
  } else {
    walk.append_boxes(placed, pending.numbers);
  }
}

void RecordedMoves::note_call(const Move& move, const CallStamp& stamp, std::uint64_t elements) {
  auto& calls = calls_[move];
  if (!calls.empty() && calls.back().first == stamp) {
    calls.back().second += elements;
  } else {
    calls.emplace_back(stamp, elements);
  }
}

void RecordedMoves::finish() {
  for (auto& [move, pending] : pending_) {
    auto& parts = parts_[move];
    if (pending.is_all) {
      parts.push_back(selections_.all(move.definition));
    } else if (!pending.numbers.empty()) {
      parts.push_back(selections_.of(move.definition, pending.rank, std::move(pending.numbers)));
    }
    if (parts.empty()) parts.push_back(selections_.none(move.definition));
  }
  pending_.clear();
}

}  // namespace slabmark
