#include "bench/pattern/captured/overlaps.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include "collective/exchange/flush_plan.hpp"
#include "collective/exchange/run_exchange.hpp"

namespace slabmark {

namespace {

/// Elements that a rank's call moves.
struct MovedRun {
  std::uint64_t target = 0;
  Run elements;
  CallStamp stamp;
};

/// visit(elements, stamp, position of the first in the order of calls)
template <class Visit>
void for_each_moved(const MovedStream& stream, const Visit& visit) {
  auto call = stream.calls.begin();
  std::uint64_t position = 0;
  std::uint64_t left = call == stream.calls.end() ? 0 : call->second;
  const auto take = [&](Run run) {
    while (run.length > 0) {
      while (left == 0 && call != stream.calls.end() && ++call != stream.calls.end())
        left = call->second;
      if (left == 0) return;
      const std::uint64_t length = std::min(run.length, left);
      visit(Run{run.offset, length}, call->first, position);
      run = {run.offset + length, run.length - length};
      position += length;
      left -= length;
    }
  };
  for (const SelectionPtr& part : stream.parts) part->for_each_run(take);
}

// A run and what is said of it travel as runs of numbers.
void put(RunList& message, const MovedRun& moved) {
  const auto& [epoch, number, is_waited_for] = moved.stamp;
  const Run target{moved.target, epoch};
  const Run call{number, std::uint64_t{is_waited_for}};
  if (const std::size_t size = message.size();
      size > 0 && message[size - 3].end() == moved.elements.offset && message[size - 2] == target &&
      message[size - 1] == call) {
    message[size - 3].length += moved.elements.length;
    return;
  }
  message.insert(message.end(), {moved.elements, target, call});
}
template <class Visit>
void for_each_put(const RunList& message, const Visit& visit) {
  for (std::size_t i = 0; i + 2 < message.size(); i += 3) {
    const Run& place = message[i + 1];
    const Run& call = message[i + 2];
    visit(MovedRun{place.offset, message[i], {place.length, call.offset, call.length != 0}});
  }
}

/// The elements that all ranks move in this rank's share of the targets, one after another.
class Sweep {
 public:
  /// `times`: how many targets each stands for.
  Sweep(const std::vector<std::uint64_t>& times, std::size_t ranks)
      : times_(times), replies_(ranks) {}

  void add(const MovedRun& moved, std::size_t rank) {
    bounds_.push_back({moved.target, moved.elements.offset, true, {moved.stamp, rank}});
    bounds_.push_back({moved.target, moved.elements.end(), false, {moved.stamp, rank}});
  }

  void run() {
    std::sort(bounds_.begin(), bounds_.end());
    std::multiset<Mover> movers;
    for (std::size_t i = 0; i < bounds_.size(); ++i) {
      const Bound& bound = bounds_[i];
      if (bound.begins) {
        movers.insert(bound.mover);
      } else {
        movers.erase(movers.find(bound.mover));
      }
      if (movers.size() < 2) continue;
      const Run elements{bound.element, bounds_[i + 1].element - bound.element};
      if (elements.length > 0) note(bound.target, elements, movers);
    }
  }

  Overlaps found;
  std::vector<RunList> replies() const {
    std::vector<RunList> messages(replies_.size());
    for (std::size_t rank = 0; rank < replies_.size(); ++rank) {
      for (const auto& [of, runs] : replies_[rank]) {
        for (const Run& run : runs) put(messages[rank], {of.first, run, of.second});
      }
    }
    return messages;
  }

 private:
  struct Mover {
    CallStamp stamp;
    std::size_t rank;
    auto operator<=>(const Mover&) const = default;
  };
  struct Bound {
    std::uint64_t target;
    std::uint64_t element;
    bool begins;  // ends come first, so that runs that touch do not meet
    Mover mover;
    auto operator<=>(const Bound&) const = default;
  };

  void note(std::uint64_t target, Run elements, const std::multiset<Mover>& movers) {
    bool are_ranks = false;
    const Mover* before = nullptr;
    for (const Mover& mover : movers) {
      if (before != nullptr && *before == mover) continue;
      if (mover.stamp.is_before(movers.rbegin()->stamp))
        append(replies_[mover.rank][{target, mover.stamp}], elements);
      if (before != nullptr && before->rank != mover.rank) {
        are_ranks = true;
        const bool together = before->stamp == mover.stamp && mover.stamp.is_collective();
        found.in_a_call = found.in_a_call || together;
      }
      before = &mover;
    }
    if (!are_ranks) return;
    found.of_ranks = true;
    const CallStamp& first = movers.begin()->stamp;
    if (first != movers.rbegin()->stamp || !first.is_collective())
      found.moved += elements.length * times_[target];
  }

  const std::vector<std::uint64_t>& times_;
  std::vector<Bound> bounds_;
  std::vector<std::map<std::pair<std::uint64_t, CallStamp>, RunList>> replies_;  ///< by rank
};

/// The first epoch and number that any rank has of each target.
std::vector<CallStamp> first_stamps(const Comm& comm,
                                    const std::vector<std::vector<MovedStream>>& targets) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  std::vector<std::uint64_t> complements(2 * targets.size());
  for (std::size_t t = 0; t < targets.size(); ++t) {
    for (const MovedStream& stream : targets[t]) {
      for (const auto& [stamp, count] : stream.calls) {
        std::uint64_t* const of_target = complements.data() + 2 * t;
        of_target[0] = std::max(of_target[0], most - stamp.epoch);
        if (stamp.number > 0) of_target[1] = std::max(of_target[1], most - stamp.number);
      }
    }
  }
  comm.max(complements);
  std::vector<CallStamp> first(targets.size());
  for (std::size_t t = 0; t < targets.size(); ++t)
    first[t] = {most - complements[2 * t], most - complements[2 * t + 1]};
  return first;
}

CallStamp since(const CallStamp& first, CallStamp stamp) {
  stamp.epoch -= first.epoch;
  if (stamp.number > 0) stamp.number -= first.number - 1;
  return stamp;
}

/// Collective. The group of each target: in a group the same selections are moved in the same
/// order, on every rank.
std::vector<std::size_t> groups_of(const Comm& comm,
                                   const std::vector<std::vector<MovedStream>>& targets,
                                   const std::vector<CallStamp>& first) {
  std::map<std::vector<std::uint64_t>, std::size_t> known;
  std::vector<std::size_t> first_alike;
  for (std::size_t t = 0; t < targets.size(); ++t) {
    std::vector<std::uint64_t> key;
    for (const MovedStream& stream : targets[t]) {
      key.push_back(stream.parts.size());
      for (const SelectionPtr& part : stream.parts)
        key.push_back(reinterpret_cast<std::uintptr_t>(part.get()));
      key.push_back(stream.calls.size());
      for (const auto& [stamp, count] : stream.calls) {
        const auto [epoch, number, is_waited_for] = since(first[t], stamp);
        key.insert(key.end(), {epoch, number, std::uint64_t{is_waited_for}, count});
      }
    }
    first_alike.push_back(known.try_emplace(std::move(key), t).first->second);
  }
  return agreed_maps(comm, first_alike);
}

/// Targets that stand for their groups, with as many runs at a time as memory is to hold.
class Batches {
 public:
  Batches(const Comm& comm, const std::vector<std::vector<MovedStream>>& targets,
          const std::vector<std::size_t>& groups) {
    for (std::size_t t = 0; t < targets.size(); ++t) {
      if (groups[t] < times.size()) {
        ++times[groups[t]];
        continue;
      }
      times.push_back(1);
      speakers.push_back(t);
      runs_.push_back(0);
      for (const MovedStream& stream : targets[t])
        for_each_moved(stream, [&](Run, const CallStamp&, std::uint64_t) { ++runs_.back(); });
    }
    comm.max(runs_);
  }

  /// Where a batch ends that begins with that group.
  std::size_t end_of(std::size_t group) const {
    constexpr std::uint64_t most = std::uint64_t{1} << 20;
    std::uint64_t runs = runs_[group++];
    while (group < runs_.size() && (runs += runs_[group]) <= most) ++group;
    return group;
  }

  std::vector<std::size_t> speakers;  ///< by group
  std::vector<std::uint64_t> times;   ///< targets of each group

 private:
  std::vector<std::uint64_t> runs_;  ///< of the rank that has the most
};

}  // namespace

Overlaps find_overlaps(const Comm& comm, const std::vector<std::vector<MovedStream>>& targets,
                       const std::vector<std::uint64_t>& elements) {
  const auto ranks = static_cast<std::uint64_t>(comm.size());
  const std::vector<CallStamp> first = first_stamps(comm, targets);
  const std::vector<std::size_t> groups = groups_of(comm, targets, first);
  const Batches batches(comm, targets, groups);
  Overlaps found;
  std::map<std::pair<std::uint64_t, CallStamp>, RunList> again;  // by group
  for (std::size_t group = 0; group < batches.speakers.size();) {
    std::vector<RunList> outgoing(ranks);
    for (const std::size_t end = batches.end_of(group); group < end; ++group) {
      const std::size_t t = batches.speakers[group];
      for (const MovedStream& stream : targets[t]) {
        for_each_moved(stream, [&](Run run, const CallStamp& stamp, std::uint64_t) {
          while (run.length > 0) {
            const std::uint64_t range = equal_range_of(run.offset, elements[t], ranks);
            const Run piece = common_part(run, equal_range(elements[t], range, ranks));
            put(outgoing[range], {group, piece, since(first[t], stamp)});
            run = {piece.end(), run.length - piece.length};
          }
        });
      }
    }
    Sweep sweep(batches.times, ranks);
    const std::vector<RunList> incoming = exchange_runs(comm, outgoing);
    for (std::size_t rank = 0; rank < incoming.size(); ++rank)
      for_each_put(incoming[rank], [&](const MovedRun& moved) { sweep.add(moved, rank); });
    sweep.run();
    found.of_ranks = found.of_ranks || sweep.found.of_ranks;
    found.in_a_call = found.in_a_call || sweep.found.in_a_call;
    found.moved += sweep.found.moved;
    for (const RunList& reply : exchange_runs(comm, sweep.replies())) {
      for_each_put(reply, [&](const MovedRun& moved) {
        append(again[{moved.target, moved.stamp}], moved.elements);
      });
    }
  }
  found.of_ranks = comm.any(found.of_ranks);
  found.in_a_call = comm.any(found.in_a_call);
  found.moved = comm.sum(found.moved);

  for (std::size_t t = 0; !again.empty() && t < targets.size(); ++t) {
    for (std::size_t s = 0; s < targets[t].size(); ++s) {
      for_each_moved(targets[t][s], [&](Run run, const CallStamp& stamp, std::uint64_t position) {
        const auto of_call = again.find({groups[t], since(first[t], stamp)});
        if (of_call == again.end()) return;
        const RunList& runs = of_call->second;
        auto next = std::upper_bound(runs.begin(), runs.end(), run.offset,
                                     [](std::uint64_t at, const Run& of) { return at < of.end(); });
        for (; next != runs.end() && next->offset < run.end(); ++next) {
          const Run part = common_part(run, *next);
          append(found.superseded[{t, s}], {position + part.offset - run.offset, part.length});
        }
      });
    }
  }
  return found;
}

}  // namespace slabmark
