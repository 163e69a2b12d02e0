#include "collective/exchange/rearranger.hpp"

#include <algorithm>
#include <optional>
#include <thread>
#include <utility>

#include "collective/exchange/rearranger_messages.hpp"
#include "core/base/stopwatch.hpp"

namespace slabmark {

namespace {

std::uint64_t count_aggregators(const Comm& comm, const RearrangerSettings& settings,
                                std::uint64_t nodes) {
  const auto size = static_cast<std::uint64_t>(comm.size());
  std::uint64_t count = settings.aggregators;
  if (count == 0) {
    // The same on all ranks, since nodes may differ.
    const std::uint64_t cores =
        comm.min(std::uint64_t{std::max(1u, std::thread::hardware_concurrency())});
    count = std::min(size, nodes * std::min(settings.per_node, cores));
    if (count > settings.stripes) count -= count % settings.stripes;
  }
  return std::clamp<std::uint64_t>(count, 1, size);
}

/// No node has two more than another that could have more, wherever a launcher puts ranks: links
/// between nodes are shared by the aggregators of a node. Those of a node are at equal distances.
std::vector<int> spread(std::uint64_t count, const std::vector<std::vector<int>>& nodes) {
  std::vector<std::uint64_t> share(nodes.size());
  while (count > 0) {
    std::vector<std::size_t> with_room;
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      if (share[n] < nodes[n].size()) with_room.push_back(n);
    }
    const std::uint64_t now = std::min<std::uint64_t>(count, with_room.size());
    for (std::uint64_t i = 0; i < now; ++i) ++share[with_room[i * with_room.size() / now]];
    count -= now;
  }
  std::vector<int> chosen;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    for (std::uint64_t i = 0; i < share[n]; ++i) {
      chosen.push_back(nodes[n][i * nodes[n].size() / share[n]]);
    }
  }
  return chosen;
}

constexpr std::uint64_t slots_between_nodes = 3;
static_assert(slots_between_nodes <= WindowCounts::most_slots);

/// Bytes of a message between nodes, on average, that are worth one.
constexpr std::uint64_t message = 16u << 10;

}  // namespace

// Four windows of 512 KiB stay in the caches of a core, which eight times as much does not. Between
// nodes a window costs messages and turns of all ranks; from 2 MiB on neither showed any more
// (docs/dev/cluster.md). Windows grow with the ranks, each of which sends a message a window, until
// an aggregator would need more than 256 MiB.
std::uint64_t default_window(std::uint64_t nodes, std::uint64_t ranks) {
  constexpr std::uint64_t on_one_node = 2u << 20;
  constexpr std::uint64_t least = 16u << 20;
  constexpr std::uint64_t most = 256u << 20;
  return nodes == 1 ? on_one_node
                    : std::clamp(windows_in_memory(nodes) * ranks * message, least, most);
}

std::uint64_t windows_in_memory(std::uint64_t nodes) {
  return nodes == 1 ? WindowCounts::most_slots : 2 * slots_between_nodes + 2;
}

// The memory is the windows of the aggregator, some to be filled while others are written. Unless
// all ranks share memory, as much again is for the messages that fill them, and room for two
// windows for what the rank itself has under way to aggregators.
Rearranger::Rearranger(const Comm& comm, const RearrangerSettings& settings)
    : comm_(comm),
      staging_(comm, settings.node_ranks),
      aggregators_(settings.dedicated.empty()
                       ? spread(count_aggregators(comm, settings, staging_.nodes()),
                                staging_.ranks_by_node())
                       : settings.dedicated),
      unit_(std::max<std::uint64_t>(settings.unit, sizeof(std::uint64_t))),
      moves_first_(!settings.dedicated.empty()),
      file_(settings.bridged_hole, settings.writers > 0 ? settings.writers : aggregators_.size()) {
  const auto found = std::find(aggregators_.begin(), aggregators_.end(), comm.rank());
  me_ = static_cast<std::size_t>(found - aggregators_.begin());
  const std::uint64_t wanted =
      settings.window > 0
          ? settings.window
          : default_window(staging_.nodes(), static_cast<std::uint64_t>(comm.size()));
  const auto window_of = [&] {
    slots_ = staging_.reaches_all() ? WindowCounts::most_slots : slots_between_nodes;
    return std::max(wanted / windows_in_memory(staging_.nodes()), unit_);
  };
  const std::uint64_t allocated = window_of();
  staging_.allocate(aggregators_, slots_ * (allocated + unit_));
  schedule_ = WindowSchedule(std::min(allocated, window_of()));
}

// Nobody waits for all others. A rank moves its elements for a window as soon as the memory is free
// of the one that used it before; an aggregator writes a window as soon as all ranks have moved
// theirs. So a rank that has to wait for a core delays others only when all windows are full.
//
// It comes to an end: the rank that has moved least waits for windows that all have moved, and
// their aggregator has written them before it could move on to this cycle itself.
Rearranger::Tally Rearranger::run(const Flush& flush, Flow flow, const FileAccess& access,
                                  const UnitAccess& units) {
  schedule_.count(flush.plan, aggregators_.size());
  const std::uint64_t count = schedule_.cycles();
  std::uint64_t moved = 0;
  std::uint64_t accessed = aggregates() ? 0 : count;
  std::optional<Messages> messages;
  if (!staging_.reaches_all()) messages.emplace(*this, flush, flow, count);
  const auto may_access_next = [&] {
    return accessed < count && (!messages || messages->may_access(accessed)) &&
           may_access(accessed, flow);
  };
  const auto access_file = [&](std::uint64_t cycle) {
    return file_.move(flush, window(flush, me_, cycle), staging(me_, cycle),
                      {flow, access, units, writing()}, tally_);
  };
  while (moved < count || accessed < count || (messages && !messages->all_done())) {
    // Work that others wait for comes first: messages, since they take longest, then the file.
    if (messages && messages->advance(accessed)) continue;
    // A rank that has nothing else to do lets the others go on with what they have, as far as its
    // memory reaches.
    if (moves_first_ && moved < count && may_move(moved, flow)) {
      move(flush, moved++, flow);
    } else if (may_access_next() && access_file(accessed)) {
      staging_.counts(me_).accessed.store(turn_ + ++accessed, std::memory_order_release);
    } else if (moved < count && may_move(moved, flow)) {
      move(flush, moved++, flow);
    } else {
      wait();
    }
  }
  turn_ += count;
  const Tally tally = std::exchange(tally_, {});
  if (const auto failure = file_.take_failure()) std::rethrow_exception(failure);
  return tally;
}

// To the file, a window can be filled when the one before it in its slot is written; from the file,
// when it is read itself.
bool Rearranger::may_move(std::uint64_t cycle, Flow flow) const {
  const std::uint64_t turn = turn_ + cycle + 1;
  const std::uint64_t windows = flow == Flow::from_file ? turn : turn - std::min(slots_, turn);
  for (std::size_t a = 0; a < aggregators_.size(); ++a) {
    if (!reaches(a)) continue;
    if (staging_.counts(a).accessed.load(std::memory_order_acquire) < windows) return false;
  }
  return true;
}

// The other way round: all must have moved their part of this window, or of the one before it in
// its slot.
bool Rearranger::may_access(std::uint64_t cycle, Flow flow) const {
  const std::uint64_t uses = (turn_ + cycle) / slots_ + (flow == Flow::to_file ? 1 : 0);
  return moved_count(me_, cycle).load(std::memory_order_acquire) >= uses * staging_.ranks_on_node();
}

WindowCounts::Count& Rearranger::moved_count(std::size_t aggregator, std::uint64_t cycle) const {
  return staging_.counts(aggregator).moved[(turn_ + cycle) % slots_];
}

void Rearranger::move(const Flush& flush, std::uint64_t cycle, Flow flow) {
  const Stopwatch watch(tally_.pack);
  move_directly(flush, cycle, flow);
  for (std::size_t a = 0; a < aggregators_.size(); ++a) {
    if (reaches(a)) moved_count(a, cycle).fetch_add(1, std::memory_order_release);
  }
}

// All aggregators of a node count at the first of them.
WindowCounts::Count& Rearranger::writing() const {
  std::size_t first = 0;
  while (!reaches(first)) ++first;
  return staging_.counts(first).writing;
}

void Rearranger::wait() {
  const Stopwatch watch(tally_.wait);
  std::this_thread::yield();
}

std::byte* Rearranger::staging(std::size_t aggregator, std::uint64_t cycle) const {
  return staging_.of(aggregator) + ((turn_ + cycle) % slots_) * longest_window();
}

void Rearranger::move_directly(const Flush& flush, std::uint64_t cycle, Flow flow) {
  for (std::size_t step = 0; step < aggregators_.size(); ++step) {
    // Everyone begins elsewhere, lest all store to the same memory at once.
    const std::size_t a = (step + static_cast<std::size_t>(comm_.rank())) % aggregators_.size();
    if (!reaches(a)) continue;
    const Window now = window(flush, a, cycle);
    std::byte* const memory = staging(a, cycle);
    for_each_item(
        flush, now, [&](std::size_t item, const FileDomain::Part& part, std::uint64_t position) {
          move_in_place(flush.plan.pieces(item), part.elements, form_of(flush, part.array, flow),
                        flush.buffers[item], memory + position);
        });
  }
}

}  // namespace slabmark
