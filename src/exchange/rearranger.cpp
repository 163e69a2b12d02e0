#include "exchange/rearranger.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include "exchange/stopwatch.hpp"

namespace slabmark {

namespace {

std::vector<int> choose_aggregators(const Comm& comm, const RearrangerSettings& settings,
                                    std::uint64_t nodes) {
  const auto size = static_cast<std::uint64_t>(comm.size());
  std::uint64_t count = settings.aggregators;
  if (count == 0) {
    // The same on all ranks, since nodes may differ.
    const std::uint64_t cores =
        comm.min(std::uint64_t{std::max(1u, std::thread::hardware_concurrency())});
    count = nodes * std::min(settings.per_node, cores);
    if (count > settings.stripes) count -= count % settings.stripes;
  }
  count = std::clamp<std::uint64_t>(count, 1, size);
  // Launchers fill node after node, so aggregators at equal distances are on different nodes first.
  std::vector<int> chosen;
  for (std::uint64_t a = 0; a < count; ++a) chosen.push_back(static_cast<int>(a * size / count));
  return chosen;
}

}  // namespace

// Two windows of 512 KiB stay in the caches of a core: with 8 MiB, storing to them and writing them
// took five times as long (Xeon with 2 MiB of second-level cache, 32 MiB on 4 ranks). Between nodes
// every rank sends a message a window, so windows grow with the ranks: 4 KiB a message on average,
// until an aggregator would need more than 256 MiB.
std::uint64_t standard_window(std::uint64_t nodes, std::uint64_t ranks) {
  constexpr std::uint64_t least = 1u << 20;
  constexpr std::uint64_t most = 256u << 20;
  return nodes == 1 ? least : std::clamp((4 * ranks) * 4096, least, most);
}

// The memory is two windows of the aggregator, one to be filled while the other is written, and one
// each for what is sent and received unless all ranks share memory.
Rearranger::Rearranger(const Comm& comm, const RearrangerSettings& settings)
    : comm_(comm),
      staging_(comm, settings.node_ranks),
      aggregators_(choose_aggregators(comm, settings, staging_.nodes())) {
  const auto found = std::find(aggregators_.begin(), aggregators_.end(), comm.rank());
  me_ = static_cast<std::size_t>(found - aggregators_.begin());
  const std::uint64_t wanted =
      settings.window > 0
          ? settings.window
          : standard_window(staging_.nodes(), static_cast<std::uint64_t>(comm.size()));
  const std::uint64_t memory = std::max(wanted, 4 * longest_element);
  const std::uint64_t allocated = staging_.reaches_all() ? memory / 2 : memory / 4;
  staging_.allocate(aggregators_, 2 * (allocated + longest_element));
  window_ = std::min(allocated, staging_.reaches_all() ? memory / 2 : memory / 4);
}

void Rearranger::write(const Flush& flush, const FileAccess& access) {
  const std::uint64_t count = cycles(flush.plan);
  for (std::uint64_t cycle = 0; cycle < count; ++cycle) {
    move_directly(flush, cycle, Flow::to_file);
    exchange_to_aggregators(flush, cycle);
    meet();
    access_file(flush, cycle, Flow::to_file, access);
  }
  end_flush(count);
}

void Rearranger::read(const Flush& flush, const FileAccess& access) {
  const std::uint64_t count = cycles(flush.plan);
  for (std::uint64_t cycle = 0; cycle < count; ++cycle) {
    access_file(flush, cycle, Flow::from_file, access);
    meet();
    exchange_from_aggregators(flush, cycle);
    move_directly(flush, cycle, Flow::from_file);
  }
  end_flush(count);
}

// One meeting a cycle is enough: who stores to a window again two cycles later, or reads it, has
// met its aggregator in between.
void Rearranger::meet() {
  const Stopwatch watch(seconds_.meet);
  staging_.meet();
}

void Rearranger::end_flush(std::uint64_t cycles) {
  turn_ += cycles;
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

std::uint64_t Rearranger::cycles(const FlushPlan& plan) const {
  std::uint64_t longest = 0;
  for (std::size_t a = 0; a < aggregators_.size(); ++a) {
    longest = std::max(longest, plan.cuts()[a + 1] - plan.cuts()[a]);
  }
  return (longest + window_ - 1) / window_;
}

Rearranger::Window Rearranger::window(const Flush& flush, std::size_t aggregator,
                                      std::uint64_t cycle) const {
  const std::uint64_t begin = flush.plan.cuts()[aggregator];
  const std::uint64_t end = flush.plan.cuts()[aggregator + 1];
  const auto bound = [&](std::uint64_t windows) {
    const std::uint64_t at = begin + windows * window_;
    return at >= end ? end : std::min(end, flush.region.whole_element(at));
  };
  return {aggregator, bound(cycle), bound(cycle + 1)};
}

std::byte* Rearranger::staging(std::size_t aggregator, std::uint64_t cycle) const {
  return staging_.of(aggregator) + ((turn_ + cycle) % 2) * (window_ + longest_element);
}

void Rearranger::move_directly(const Flush& flush, std::uint64_t cycle, Flow flow) {
  const Stopwatch watch(seconds_.move);
  for (std::size_t step = 0; step < aggregators_.size(); ++step) {
    // Everyone begins elsewhere, lest all store to the same memory at once.
    const std::size_t a = (step + static_cast<std::size_t>(comm_.rank())) % aggregators_.size();
    if (!reaches(a)) continue;
    const Window now = window(flush, a, cycle);
    std::byte* const memory = staging(a, cycle);
    for_each_item(
        flush, now, [&](std::size_t item, const Region::Part& part, std::uint64_t position) {
          move_in_place(flush.plan.pieces(item), part.elements, form_of(flush, part.array, flow),
                        flush.buffers[item], memory + position);
        });
  }
}

}  // namespace slabmark
