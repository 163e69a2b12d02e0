#include "exchange/rearranger.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

namespace slabmark {

namespace {

// Windows end at whole elements, so they may be this much longer than asked for.
constexpr std::uint64_t longest_element = 8;

// A hole of the file up to this size is written over with zeros (where nothing was written before)
// or read along, since a call of its own for each side costs more.
constexpr std::uint64_t bridged_hole = 32u << 10;

constexpr int tag = 1;

std::vector<int> choose_aggregators(const Comm& comm, const RearrangerSettings& settings,
                                    std::uint64_t nodes) {
  const auto size = static_cast<std::uint64_t>(comm.size());
  std::uint64_t count = settings.aggregators;
  if (count == 0) {
    // The same on all ranks, since nodes may differ.
    const std::uint64_t cores = comm.min(std::uint64_t{std::max(1u, std::thread::hardware_concurrency())});
    count = nodes * std::min(settings.per_node, cores);
    if (count > settings.stripes) count -= count % settings.stripes;
  }
  count = std::clamp<std::uint64_t>(count, 1, size);
  // Launchers fill node after node, so aggregators at equal distances are on different nodes first.
  std::vector<int> chosen;
  for (std::uint64_t a = 0; a < count; ++a) chosen.push_back(static_cast<int>(a * size / count));
  return chosen;
}

/// Adds the time until it goes to `total`.
class Stopwatch {
 public:
  explicit Stopwatch(double& total) : total_(total), start_(std::chrono::steady_clock::now()) {}
  ~Stopwatch() {
    total_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  double& total_;
  std::chrono::steady_clock::time_point start_;
};

void wait_all(std::vector<MPI_Request>& requests) {
  check_mpi(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE),
            "MPI_Waitall");
  requests.clear();
}

ElementForm form_of(const Region& region, std::size_t array, bool swap, Flow flow) {
  return {region.arrays()[array].place.element_bytes, swap, flow};
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
      settings.window > 0 ? settings.window
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

/// Calls visit(item, part, position of the part in the window) for all items in the window.
template <class Visit>
void Rearranger::for_each_item(const Flush& flush, const Window& window, const Visit& visit) const {
  for (const Region::Part& part : flush.region.parts_in(window.begin, window.end)) {
    const Region::Array& array = flush.region.arrays()[part.array];
    const std::uint64_t position =
        array.begin + part.elements.offset * array.place.element_bytes - window.begin;
    for (const std::size_t item : flush.plan.items_of(part.array)) visit(item, part, position);
  }
}

void Rearranger::move_directly(const Flush& flush, std::uint64_t cycle, Flow flow) {
  const Stopwatch watch(seconds_.move);
  for (std::size_t step = 0; step < aggregators_.size(); ++step) {
    // Everyone begins elsewhere, lest all store to the same memory at once.
    const std::size_t a =
        (step + static_cast<std::size_t>(comm_.rank())) % aggregators_.size();
    if (!reaches(a)) continue;
    const Window now = window(flush, a, cycle);
    std::byte* const memory = staging(a, cycle);
    for_each_item(flush, now,
                  [&](std::size_t item, const Region::Part& part, std::uint64_t position) {
                    move_in_place(flush.plan.pieces(item), part.elements,
                                  form_of(flush.region, part.array, flush.swap, flow),
                                  flush.buffers[item], memory + position);
                  });
  }
}

// What a rank and an aggregator that share no memory send each other: the elements of all items in
// the window, item after item, ascending. Both sides know how many bytes that are.

std::uint64_t Rearranger::bytes_for(const Flush& flush, const Window& window) const {
  std::uint64_t bytes = 0;
  for_each_item(flush, window, [&](std::size_t item, const Region::Part& part, std::uint64_t) {
    bytes += count_in(flush.plan.pieces(item), part.elements) *
             flush.region.arrays()[part.array].place.element_bytes;
  });
  return bytes;
}

std::uint64_t Rearranger::own_bytes(const Flush& flush) const {
  return bytes_for(flush, {0, 0, flush.region.bytes()});
}

std::uint64_t Rearranger::bytes_of_source(const Flush& flush, const Window& window,
                                          int source) const {
  std::uint64_t bytes = 0;
  for_each_item(flush, window, [&](std::size_t item, const Region::Part& part, std::uint64_t) {
    const FlushPlan::OnLine its = flush.plan.of_source(source, item, part.elements);
    bytes += count_in(its.runs, its.part) * flush.region.arrays()[part.array].place.element_bytes;
  });
  return bytes;
}

void Rearranger::move_own(const Flush& flush, const Window& window, Flow flow,
                          std::byte* packed) const {
  for_each_item(flush, window, [&](std::size_t item, const Region::Part& part, std::uint64_t) {
    packed = move_packed(flush.plan.pieces(item), part.elements,
                         form_of(flush.region, part.array, flush.swap, flow), flush.buffers[item],
                         packed);
  });
}

void Rearranger::move_of_source(const Flush& flush, const Window& window, int source, Flow flow,
                                std::byte* packed, std::byte* place) const {
  for_each_item(flush, window,
                [&](std::size_t item, const Region::Part& part, std::uint64_t position) {
                  const FlushPlan::OnLine its = flush.plan.of_source(source, item, part.elements);
                  packed = move_runs(its.runs, its.part,
                                     form_of(flush.region, part.array, false, flow), packed,
                                     place + position);
                });
}

struct Rearranger::Incoming {
  int source;
  std::uint64_t begin, bytes;  ///< in the packed memory
};

std::vector<Rearranger::Incoming> Rearranger::messages_of_sources(const Flush& flush,
                                                                  const Window& window) const {
  std::vector<Incoming> all;
  std::uint64_t begin = 0;
  for (int source = 0; source < comm_.size(); ++source) {
    if (staging_.reaches(source)) continue;
    const std::uint64_t bytes = bytes_of_source(flush, window, source);
    if (bytes == 0) continue;
    all.push_back({source, begin, bytes});
    begin += bytes;
  }
  return all;
}

void Rearranger::exchange_to_aggregators(const Flush& flush, std::uint64_t cycle) {
  if (staging_.reaches_all()) return;
  const Stopwatch watch(seconds_.move);
  std::vector<Incoming> incoming;
  std::vector<MPI_Request> receives;
  const bool aggregates = me_ < aggregators_.size();
  const Window mine = aggregates ? window(flush, me_, cycle) : Window{0, 0, 0};
  if (aggregates) {
    incoming = messages_of_sources(flush, mine);
    if (!incoming.empty()) received_.resize(incoming.back().begin + incoming.back().bytes);
    for (const Incoming& message : incoming) {
      check_mpi(MPI_Irecv(received_.data() + message.begin, static_cast<int>(message.bytes),
                          MPI_BYTE, message.source, tag, comm_.get(), &receives.emplace_back()),
                "MPI_Irecv");
    }
  }
  send_to_aggregators(flush, cycle);
  for (std::size_t done = 0; done < incoming.size(); ++done) {
    int index = 0;
    check_mpi(MPI_Waitany(static_cast<int>(receives.size()), receives.data(), &index,
                          MPI_STATUS_IGNORE),
              "MPI_Waitany");
    const Incoming& message = incoming[static_cast<std::size_t>(index)];
    move_of_source(flush, mine, message.source, Flow::to_file, received_.data() + message.begin,
                   staging(me_, cycle));
  }
}

// All receives of the cycle stand before anything is sent, so waiting for room here comes to an end.
void Rearranger::send_to_aggregators(const Flush& flush, std::uint64_t cycle) {
  // No more than there is to send.
  sent_.resize(std::min(window_ + longest_element, own_bytes(flush)));
  std::vector<MPI_Request> sends;
  std::uint64_t filled = 0;
  for (std::size_t step = 0; step < aggregators_.size(); ++step) {
    const std::size_t a = (step + static_cast<std::size_t>(comm_.rank())) % aggregators_.size();
    if (reaches(a)) continue;
    const Window its = window(flush, a, cycle);
    const std::uint64_t bytes = bytes_for(flush, its);
    if (bytes == 0) continue;
    if (filled + bytes > sent_.size()) {
      wait_all(sends);
      filled = 0;
    }
    move_own(flush, its, Flow::to_file, sent_.data() + filled);
    check_mpi(MPI_Isend(sent_.data() + filled, static_cast<int>(bytes), MPI_BYTE, aggregators_[a],
                        tag, comm_.get(), &sends.emplace_back()),
              "MPI_Isend");
    filled += bytes;
    ++messages_;
  }
  wait_all(sends);
}

void Rearranger::exchange_from_aggregators(const Flush& flush, std::uint64_t cycle) {
  if (staging_.reaches_all()) return;
  const Stopwatch watch(seconds_.move);
  std::vector<MPI_Request> sends;
  if (me_ < aggregators_.size()) {
    const Window mine = window(flush, me_, cycle);
    const std::vector<Incoming> outgoing = messages_of_sources(flush, mine);
    if (!outgoing.empty()) sent_.resize(outgoing.back().begin + outgoing.back().bytes);
    for (const Incoming& message : outgoing) {
      move_of_source(flush, mine, message.source, Flow::from_file, sent_.data() + message.begin,
                     staging(me_, cycle));
      check_mpi(MPI_Isend(sent_.data() + message.begin, static_cast<int>(message.bytes), MPI_BYTE,
                          message.source, tag, comm_.get(), &sends.emplace_back()),
                "MPI_Isend");
      ++messages_;
    }
  }
  receive_from_aggregators(flush, cycle);
  wait_all(sends);
}

void Rearranger::receive_from_aggregators(const Flush& flush, std::uint64_t cycle) {
  received_.resize(std::min(window_ + longest_element, own_bytes(flush)));
  std::vector<Window> windows;
  std::vector<std::uint64_t> begins;
  std::vector<MPI_Request> receives;
  std::uint64_t filled = 0;
  const auto take = [&] {
    wait_all(receives);
    for (std::size_t i = 0; i < windows.size(); ++i) {
      move_own(flush, windows[i], Flow::from_file, received_.data() + begins[i]);
    }
    windows.clear();
    begins.clear();
    filled = 0;
  };
  for (std::size_t a = 0; a < aggregators_.size(); ++a) {
    if (reaches(a)) continue;
    const Window its = window(flush, a, cycle);
    const std::uint64_t bytes = bytes_for(flush, its);
    if (bytes == 0) continue;
    if (filled + bytes > received_.size()) take();
    check_mpi(MPI_Irecv(received_.data() + filled, static_cast<int>(bytes), MPI_BYTE,
                        aggregators_[a], tag, comm_.get(), &receives.emplace_back()),
              "MPI_Irecv");
    windows.push_back(its);
    begins.push_back(filled);
    filled += bytes;
  }
  take();
}

// Whether the bytes between two covered extents may be written as well: padding between arrays is
// nobody's, and what no rank has of an array may be zero until something was written there.
bool Rearranger::may_join(const Flush& flush, Extent before, std::size_t its_array, Extent after,
                          std::size_t array) const {
  const std::uint64_t hole = after.begin - before.end;
  const bool contiguous_in_file =
      flush.region.file_offset(after.begin) - flush.region.file_offset(before.begin) ==
      after.begin - before.begin;
  if (!contiguous_in_file || hole > bridged_hole) return false;
  if (hole == 0) return true;
  const auto& arrays = flush.region.arrays();
  if (array == its_array + 1 && before.end == arrays[its_array].end() &&
      after.begin == arrays[array].begin) {
    return true;
  }
  return std::all_of(flush.fresh.begin() + static_cast<std::ptrdiff_t>(its_array),
                     flush.fresh.begin() + static_cast<std::ptrdiff_t>(array) + 1,
                     [](bool fresh) { return fresh; });
}

// What is to be moved between a window and the file, as positions that are contiguous in the file.
// Holes that are to be written are set to zero.
std::vector<Rearranger::Extent> Rearranger::extents(const Flush& flush, const Window& window,
                                                    std::byte* staging, Flow flow) const {
  std::vector<Extent> all;
  std::size_t last_array = 0;
  for (const Region::Part& part : flush.region.parts_in(window.begin, window.end)) {
    const Region::Array& array = flush.region.arrays()[part.array];
    const std::uint64_t size = array.place.element_bytes;
    for (const Run& run : flush.plan.covered(part.array, part.elements)) {
      const Extent next{array.begin + run.offset * size, array.begin + run.end() * size};
      if (!all.empty() && may_join(flush, all.back(), last_array, next, part.array)) {
        if (flow == Flow::to_file) {
          std::memset(staging + (all.back().end - window.begin), 0, next.begin - all.back().end);
        }
        all.back().end = next.end;
      } else {
        all.push_back(next);
      }
      last_array = part.array;
    }
  }
  return all;
}

void Rearranger::access_file(const Flush& flush, std::uint64_t cycle, Flow flow,
                             const FileAccess& access) {
  if (me_ >= aggregators_.size() || failure_) return;
  const Stopwatch watch(seconds_.file);
  try {
    const Window now = window(flush, me_, cycle);
    std::byte* const memory = staging(me_, cycle);
    for (const Extent& extent : extents(flush, now, memory, flow)) {
      access(flush.region.file_offset(extent.begin), memory + (extent.begin - now.begin),
             extent.end - extent.begin);
      ++file_calls_;
    }
  } catch (...) {
    failure_ = std::current_exception();
  }
}

}  // namespace slabmark
