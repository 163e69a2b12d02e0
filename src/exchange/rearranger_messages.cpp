// What ranks and aggregators that share no memory send each other.

#include <algorithm>

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
  std::vector<Incoming> incoming;
  std::vector<MPI_Request> receives;
  const Window mine = aggregates() ? window(flush, me_, cycle) : Window{0, 0, 0};
  if (aggregates()) {
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
    check_mpi(
        MPI_Waitany(static_cast<int>(receives.size()), receives.data(), &index, MPI_STATUS_IGNORE),
        "MPI_Waitany");
    const Incoming& message = incoming[static_cast<std::size_t>(index)];
    move_of_source(flush, mine, message.source, Flow::to_file, received_.data() + message.begin,
                   staging(me_, cycle));
  }
}

// All receives of the cycle stand before anything is sent, so waiting for room here comes to an
// end.
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
    ++tally_.messages;
  }
  wait_all(sends);
}

void Rearranger::exchange_from_aggregators(const Flush& flush, std::uint64_t cycle) {
  if (staging_.reaches_all()) return;
  std::vector<MPI_Request> sends;
  if (aggregates()) {
    const Window mine = window(flush, me_, cycle);
    const std::vector<Incoming> outgoing = messages_of_sources(flush, mine);
    if (!outgoing.empty()) sent_.resize(outgoing.back().begin + outgoing.back().bytes);
    for (const Incoming& message : outgoing) {
      move_of_source(flush, mine, message.source, Flow::from_file, sent_.data() + message.begin,
                     staging(me_, cycle));
      check_mpi(MPI_Isend(sent_.data() + message.begin, static_cast<int>(message.bytes), MPI_BYTE,
                          message.source, tag, comm_.get(), &sends.emplace_back()),
                "MPI_Isend");
      ++tally_.messages;
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

}  // namespace slabmark
