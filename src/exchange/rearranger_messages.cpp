// What ranks and aggregators that share no memory send each other.

#include <algorithm>
#include <utility>

#include "exchange/rearranger.hpp"

namespace slabmark {

namespace {

constexpr int tag = 1;

void wait_all(std::vector<MPI_Request>& requests) {
  check_mpi(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE),
            "MPI_Waitall");
  requests.clear();
}

// Whoever packs elements from a buffer, or unpacks them into it, swaps them.
ElementForm without_swap(ElementForm form) {
  form.swap = false;
  return form;
}

}  // namespace

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
    packed = move_packed(flush.plan.pieces(item), part.elements, form_of(flush, part.array, flow),
                         flush.buffers[item], packed);
  });
}

void Rearranger::move_of_source(const Flush& flush, const Window& window, int source, Flow flow,
                                std::byte* packed, std::byte* place) const {
  for_each_item(
      flush, window, [&](std::size_t item, const Region::Part& part, std::uint64_t position) {
        const FlushPlan::OnLine its = flush.plan.of_source(source, item, part.elements);
        packed = move_runs(its.runs, its.part, without_swap(form_of(flush, part.array, flow)),
                           packed, place + position);
      });
}

/// What a rank sends to this aggregator, or gets from it.
struct Rearranger::OfSource {
  int source;
  std::uint64_t begin, bytes;  ///< in the packed memory
};

std::vector<Rearranger::OfSource> Rearranger::messages_of_sources(const Flush& flush,
                                                                  const Window& window) const {
  std::vector<OfSource> all;
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

void Rearranger::start(bool sends, std::byte* memory, std::uint64_t bytes, int rank,
                       std::vector<MPI_Request>& requests) {
  const auto count = static_cast<int>(bytes);
  auto& request = requests.emplace_back();
  if (sends) {
    check_mpi(MPI_Isend(memory, count, MPI_BYTE, rank, tag, comm_.get(), &request), "MPI_Isend");
    ++tally_.messages;
  } else {
    check_mpi(MPI_Irecv(memory, count, MPI_BYTE, rank, tag, comm_.get(), &request), "MPI_Irecv");
  }
}

void Rearranger::exchange_messages(const Flush& flush, std::uint64_t cycle, Flow flow) {
  if (staging_.reaches_all()) return;
  const bool to_file = flow == Flow::to_file;
  auto& packed = to_file ? received_ : sent_;
  std::vector<OfSource> messages;
  std::vector<MPI_Request> requests;
  const Window mine = aggregates() ? window(flush, me_, cycle) : Window{0, 0, 0};
  const auto move = [&](const OfSource& message) {
    move_of_source(flush, mine, message.source, flow, packed.data() + message.begin,
                   staging(me_, cycle));
  };
  if (aggregates()) messages = messages_of_sources(flush, mine);
  if (!messages.empty()) packed.resize(messages.back().begin + messages.back().bytes);
  for (const OfSource& message : messages) {
    if (!to_file) move(message);
    start(!to_file, packed.data() + message.begin, message.bytes, message.source, requests);
  }
  exchange_own(flush, cycle, flow);
  if (!to_file) return wait_all(requests);
  for (std::size_t done = 0; done < messages.size(); ++done) {
    int index = 0;
    check_mpi(
        MPI_Waitany(static_cast<int>(requests.size()), requests.data(), &index, MPI_STATUS_IGNORE),
        "MPI_Waitany");
    move(messages[static_cast<std::size_t>(index)]);
  }
}

// All messages of the aggregators have been started before, so waiting for room here comes to an
// end.
void Rearranger::exchange_own(const Flush& flush, std::uint64_t cycle, Flow flow) {
  const bool to_file = flow == Flow::to_file;
  auto& packed = to_file ? sent_ : received_;
  // No more than there is to move.
  packed.resize(std::min(longest_window(), own_bytes(flush)));
  std::vector<std::pair<Window, std::byte*>> under_way;
  std::vector<MPI_Request> requests;
  std::uint64_t filled = 0;
  const auto complete = [&] {
    wait_all(requests);
    if (!to_file) {
      for (const auto& [its, place] : under_way) move_own(flush, its, flow, place);
    }
    under_way.clear();
    filled = 0;
  };
  for (std::size_t step = 0; step < aggregators_.size(); ++step) {
    const std::size_t a = (step + static_cast<std::size_t>(comm_.rank())) % aggregators_.size();
    if (reaches(a)) continue;
    const Window its = window(flush, a, cycle);
    const std::uint64_t bytes = bytes_for(flush, its);
    if (bytes == 0) continue;
    if (filled + bytes > packed.size()) complete();
    std::byte* const place = packed.data() + filled;
    if (to_file) move_own(flush, its, flow, place);
    start(to_file, place, bytes, aggregators_[a], requests);
    under_way.emplace_back(its, place);
    filled += bytes;
  }
  complete();
}

}  // namespace slabmark
