#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "bench/pattern/captured/captured_pattern.hpp"
#include "capture/replay/call_memory.hpp"
#include "capture/replay/captured_calls.hpp"

namespace slabmark {

/// The buffers of the rounds that are posted, and the memory of the program's calls, which have
/// their elements.
class RoundBuffers {
 public:
  RoundBuffers(const CapturedRun& run, const Pattern& pattern);

  /// `round`: its number in the run. `buffers[i]` belongs to `transfers[i]`.
  void post(std::uint64_t round, const std::vector<Transfer>& transfers,
            std::span<std::byte* const> buffers);
  bool is_empty() const { return rounds_.empty(); }
  std::uint64_t last_posted() const { return rounds_.rbegin()->first; }

  /// Memory with the next elements of the rounds for a part of a call, until take_back(). Null: the
  /// part has no elements.
  std::byte* memory_of(const CapturedCall::Part& part, const RankReader& rank);
  /// Puts what calls have read into the buffers, and forgets these.
  void take_back();

 private:
  struct Round {
    std::vector<std::byte*> buffers;
    std::vector<std::uint64_t> done;  ///< elements of each that calls have moved
    std::map<std::pair<std::size_t, std::uint64_t>, std::size_t> places;  ///< by dataset and time
  };
  /// Elements of a transfer that a call moves.
  struct Share {
    std::pair<std::size_t, std::size_t> transfer;  ///< round and number there
    Run elements;                                  ///< in the order of calls
    std::uint64_t unit = 1;                        ///< bytes of one
    std::byte* buffer = nullptr;
    bool is_written = false;
  };

  std::size_t element_bytes(const CapturedEvent& event, const RankReader& rank) const;
  std::size_t dataset_of(const PlacedBoxes& placed) const;
  std::byte* allocate(std::size_t bytes);
  std::byte* dense_memory(const CapturedCall::Part& part, std::size_t bytes);
  std::byte* take(const CapturedCall::Part& part, const CapturedWalk::Fragment& fragment,
                  std::size_t bytes);
  std::byte* repeated(const Share& share, const std::vector<Piece>& places);
  std::byte* outdated(const Share& share, const RunList& superseded, std::byte* own);
  /// Between two places, in the direction of the call: now, or by take_back() where it reads.
  void exchange(std::byte* buffer, std::byte* of_call, std::size_t bytes, bool is_written);

  const CapturedRun& run_;
  const Pattern& pattern_;
  std::map<RoundKey, std::uint64_t> numbers_;
  std::map<std::uint64_t, Round> rounds_;
  std::deque<std::vector<std::byte>> memory_;
  std::deque<CallMemory> laid_out_;
  std::vector<std::function<void()>> to_take_back_;  ///< in the order of calls
};

}  // namespace slabmark
