#include "bench/pattern/captured/recorded_moves.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "capture/format/recorder.hpp"
#include "core/base/checksum.hpp"

namespace slabmark {

void RecordedMoves::add(std::uint64_t recorded_rank) {
  CapturedWalk walk = run_.walk(recorded_rank);
  double thought = 0;
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
    if (event.begins_block) thought += static_cast<double>(event.thought) * microsecond;
    const RoundKey& round = walk.round();
    if (run_.shapes.moved_paths.contains(walk.path()) && walk.orders_rounds()) {
      if (walk.is_made_by_all()) rounds_of_all.add(round.file).add(round.phase).add(round.time);
      if (last != round) add_step({last.value_or(round), round});
      // A call is in one round with all its parts.
      if (event.has(capture::one_more_part)) add_step({round, *last});
      last = round;
    }
    for (const PlacedBoxes& placed : walk.placed()) {
      thought_[round] += std::exchange(thought, 0.0);
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
  } else if (placed.list != CapturedEvent::none) {
    const BoxArray boxes = walk.rank().lists.get(placed.list);
    const std::size_t skipped = boxes.rank - placed.rank;
    pending.numbers.reserve(pending.numbers.size() + 4 * placed.rank * boxes.count);
    for (std::size_t i = 0; i < boxes.count; ++i) {
      const std::size_t at = i * boxes.rank + skipped;
      for (std::size_t d = 0; d < placed.rank; ++d) {
        pending.numbers.push_back(boxes.starts[at + d] + placed.origin[d]);
      }
      const auto put = [&](const std::vector<std::int64_t>& of_list) {
        for (std::size_t d = 0; d < placed.rank; ++d) {
          pending.numbers.push_back(of_list.empty() ? 1 : of_list[at + d]);
        }
      };
      put(boxes.counts);
      put(boxes.strides);
      put(boxes.blocks);
    }
  } else {
    pending.numbers.insert(pending.numbers.end(), placed.numbers.begin(), placed.numbers.end());
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
