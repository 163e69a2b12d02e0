#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/parallel/comm.hpp"

namespace slabmark::rearrange {

/// The work that I/O ranks are told to do.
enum class Command : std::int64_t { open, move, sync, close, end, reserve, share, forget, write };
/// A command and what it needs, as numbers.
using Message = std::vector<std::int64_t>;
inline std::int64_t to_word(Command command) { return static_cast<std::int64_t>(command); }

/// Some ranks of a communicator that own nothing of the program and move data for the others: who
/// they are, what the others tell them to do, and what they answer.
class IoRanks {
 public:
  /// Collective over `all`, which outlives it. `count` (from 1 on, fewer than all) of its ranks:
  /// each the last of an equal share, so that every node has its own.
  IoRanks(const Comm& all, int count);

  const std::vector<int>& ranks() const { return ranks_; }  ///< ascending, in all
  /// True if this rank is one of them.
  bool has_me() const { return has_me_; }
  /// The I/O ranks on one of them, the others on those.
  const Comm& group() const { return *group_; }

  /// Returns when `there` says so; asleep where that takes longer.
  static void wait_until(const std::function<bool()>& there);

  // On the other ranks.

  /// Tells all I/O ranks, which do as they are told one after another. All ranks of the group call
  /// it; its root's message counts.
  void send(const Message& message) const;

  /// The answer of the I/O ranks for a piece of work that nobody waited for.
  struct Answer {
    std::int64_t file = 0;
    std::int64_t code = 0;  ///< SLABMARK_OK, or what failed
    std::string message;
  };
  /// The next answer, on the root of the group; none if there is none yet. `waits`: until there is.
  std::optional<Answer> answer(bool waits) const;

  // On I/O ranks.

  Message receive() const;                ///< the next one
  void tell(const Answer& answer) const;  ///< the root's counts

 private:
  int root_of(bool io_ranks) const;

  const Comm& all_;
  std::vector<int> ranks_;
  bool has_me_;
  std::unique_ptr<Comm> group_;
};

}  // namespace slabmark::rearrange
