#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "bench/measure/clock.hpp"
#include "bench/measure/order.hpp"
#include "core/json/json.hpp"
#include "core/parallel/comm.hpp"
#include "programs/probe/options.hpp"
#include "programs/probe/topology.hpp"

namespace slabmark::probe {

/// Two nodes, which send to each other.
using Meeting = std::pair<std::size_t, std::size_t>;
using Rounds = std::vector<std::vector<Meeting>>;

/// The messages from one rank to another, several at a time; the receiver says when it is ready and
/// when it has all, so that one clock measures.
class Stream {
 public:
  Stream(const Comm& comm, std::uint64_t block);

  /// Seconds from the receiver's word that it is ready until its word that it has all.
  double send(int to, std::uint64_t bytes, std::uint64_t trial);
  /// Throws IoError if what came is not what was sent.
  void receive(int from, std::uint64_t bytes, std::uint64_t trial);

 private:
  std::uint64_t size_of(std::uint64_t bytes, std::uint64_t block) const;
  template <class Start>
  void each_block(std::uint64_t bytes, const Start& start);
  void wait_for_word(int from);

  const Comm& comm_;
  const std::uint64_t block_;
  std::vector<std::byte> slots_;
};

/// Messages between all pairs of nodes, or between so many that each node meets --meetings others.
class Messages {
 public:
  Messages(const Comm& comm, const Options& options, const Topology& topology);

  /// Of all meetings of a trial.
  std::uint64_t bytes() const;

  /// Collective: a tournament; on root its seconds: of each node, and of each meeting.
  std::pair<Json, Json> meet(PhaseClock& clock, std::uint64_t trial);

 private:
  std::size_t pairs_of(const Meeting& meeting) const;
  double take_part(const Meeting& meeting, std::uint64_t trial);
  std::pair<Json, Json> seconds_of(const Rounds& rounds,
                                   const std::vector<std::vector<double>>& sent) const;

  const Comm& comm_;
  const Options& options_;
  const Topology& topology_;
  TrialOrder order_;
  Stream stream_;
};

}  // namespace slabmark::probe
