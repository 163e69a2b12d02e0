#include "collective/exchange/rearranger_messages.hpp"

#include <algorithm>

#include "core/base/stopwatch.hpp"

namespace slabmark {

namespace {

constexpr int message_tag = 1;

// Elements are swapped where they are packed from a buffer, or unpacked into it.
ElementForm without_swap(ElementForm form) {
  form.swap = false;
  return form;
}

}  // namespace

Rearranger::Messages::Messages(Rearranger& rearranger, const Flush& flush, Flow flow,
                               std::uint64_t cycles)
    : mine_(rearranger),
      flush_(flush),
      flow_(flow),
      cycles_(cycles),
      begun_(rearranger.aggregates() ? 0 : cycles),
      finished_(begun_) {
  mine_.own_packed_.fit(2 * mine_.longest_window());
}

bool Rearranger::Messages::advance(std::uint64_t accessed) {
  double seconds = 0.0;
  bool did = false;
  {
    const Stopwatch watch(seconds);
    // A message that is begun goes on by itself, so beginning comes first.
    did = begin_window(accessed) || begin_own() || finish_windows() || finish_own();
  }
  (did ? mine_.tally_.pack : mine_.tally_.wait) += seconds;
  return did;
}

bool Rearranger::Messages::may_access(std::uint64_t cycle) const {
  return flow_ == Flow::to_file ? finished_ > cycle : begun_ + mine_.slots_ > cycle;
}

bool Rearranger::Messages::all_done() const {
  return finished_ == cycles_ && own_cycle_ == cycles_ && !waiting_ && own_.empty();
}

// To the file, messages may come when the window before in the same memory is written; from the
// file, they go when this one is read, and those before have left their memory.
bool Rearranger::Messages::begin_window(std::uint64_t accessed) {
  if (begun_ == cycles_) return false;
  const bool to_file = flow_ == Flow::to_file;
  if (to_file ? begun_ >= accessed + mine_.slots_
              : begun_ >= accessed || begun_ >= finished_ + mine_.slots_) {
    return false;
  }
  const Window window = mine_.window(flush_, mine_.me_, begun_);
  Slot& now = slot(begun_);
  now.messages.clear();
  now.requests.clear();
  std::uint64_t total = 0;
  const int size = mine_.comm_.size();
  // In about the order in which ranks come to this aggregator.
  for (int step = 0; step < size; ++step) {
    const int source = (mine_.comm_.rank() + size - step) % size;
    if (mine_.staging_.reaches(source)) continue;
    const std::uint64_t bytes = bytes_of_source(window, source);
    if (bytes == 0) continue;
    now.messages.push_back({source, total, bytes});
    total += bytes;
  }
  std::byte* const memory = mine_.packed_[(mine_.turn_ + begun_) % mine_.slots_].fit(total);
  for (const OfSource& message : now.messages) {
    if (!to_file) move_of_source(begun_, message);
    now.requests.push_back(start(!to_file, memory + message.begin, message.bytes, message.source));
  }
  now.left = now.messages.size();
  ++begun_;
  return true;
}

bool Rearranger::Messages::finish_windows() {
  bool some = false;
  std::vector<int> which;
  for (std::uint64_t cycle = finished_; cycle < begun_; ++cycle) {
    Slot& its = slot(cycle);
    if (its.left == 0) continue;
    which.resize(its.requests.size());
    int count = 0;
    check_mpi(MPI_Testsome(static_cast<int>(its.requests.size()), its.requests.data(), &count,
                           which.data(), MPI_STATUSES_IGNORE),
              "MPI_Testsome");
    for (int i = 0; i < count; ++i) {
      if (flow_ == Flow::to_file) {
        move_of_source(cycle,
                       its.messages[static_cast<std::size_t>(which[static_cast<std::size_t>(i)])]);
      }
    }
    its.left -= static_cast<std::size_t>(count);
    some = some || count > 0;
  }
  while (finished_ < begun_ && slot(finished_).left == 0) {
    ++finished_;
    some = true;
  }
  return some;
}

// To the file, a rank goes no further ahead than the windows of its own node allow: they stand for
// those of others, which would have to keep what comes too early.
bool Rearranger::Messages::begin_own() {
  if (!waiting_) waiting_ = next_own();
  if (!waiting_) return false;
  std::byte* const place = room_for(waiting_->bytes);
  if (place == nullptr) return false;
  Own& now = own_.emplace_back(*waiting_);
  waiting_.reset();
  now.place = place;
  own_end_ = place + now.bytes;
  const bool to_file = flow_ == Flow::to_file;
  if (to_file) move_own(now.window, place);
  now.request = start(to_file, place, now.bytes, mine_.aggregators_[now.window.aggregator]);
  return true;
}

/// The next message that may begin. Everyone begins with another aggregator, lest all send to one.
std::optional<Rearranger::Messages::Own> Rearranger::Messages::next_own() {
  const std::size_t aggregators = mine_.aggregators_.size();
  for (; own_cycle_ < cycles_; ++own_cycle_, own_step_ = 0) {
    if (flow_ == Flow::to_file && !mine_.may_move(own_cycle_, flow_)) return {};
    while (own_step_ < aggregators) {
      const std::size_t a =
          (own_step_++ + static_cast<std::size_t>(mine_.comm_.rank())) % aggregators;
      if (mine_.reaches(a)) continue;
      const Window window = mine_.window(flush_, a, own_cycle_);
      const std::uint64_t bytes = bytes_for(window);
      if (bytes > 0) return Own{window, bytes};
    }
  }
  return {};
}

/// Where a message of this rank can lie: behind the latest one, or before the oldest one. Null: it
/// must wait.
std::byte* Rearranger::Messages::room_for(std::uint64_t bytes) {
  ScratchBytes& memory = mine_.own_packed_;
  if (own_.empty()) return memory.fit(bytes);
  std::byte* const oldest = own_.front().place;
  std::byte* const end = memory.data() + memory.size();
  const auto fits = [bytes](const std::byte* from, const std::byte* to) {
    return static_cast<std::uint64_t>(to - from) >= bytes;
  };
  if (own_end_ <= oldest) return fits(own_end_, oldest) ? own_end_ : nullptr;
  if (fits(own_end_, end)) return own_end_;
  return fits(memory.data(), oldest) ? memory.data() : nullptr;
}

bool Rearranger::Messages::finish_own() {
  bool some = false;
  while (!own_.empty()) {
    Own& oldest = own_.front();
    int arrived = 0;
    check_mpi(MPI_Test(&oldest.request, &arrived, MPI_STATUS_IGNORE), "MPI_Test");
    if (arrived == 0) break;
    if (flow_ == Flow::from_file) move_own(oldest.window, oldest.place);
    own_.pop_front();
    some = true;
  }
  return some;
}

std::uint64_t Rearranger::Messages::bytes_for(const Window& window) const {
  std::uint64_t bytes = 0;
  mine_.for_each_item(flush_, window,
                      [&](std::size_t item, const FileDomain::Part& part, std::uint64_t) {
                        bytes += count_in(flush_.plan.pieces(item), part.elements) *
                                 flush_.domain.arrays()[part.array].place.element_bytes;
                      });
  return bytes;
}

std::uint64_t Rearranger::Messages::bytes_of_source(const Window& window, int source) const {
  std::uint64_t bytes = 0;
  mine_.for_each_item(
      flush_, window, [&](std::size_t item, const FileDomain::Part& part, std::uint64_t) {
        const FlushPlan::OnLine its = flush_.plan.of_source(source, item, part.elements);
        bytes +=
            count_in(its.runs, its.part) * flush_.domain.arrays()[part.array].place.element_bytes;
      });
  return bytes;
}

void Rearranger::Messages::move_own(const Window& window, std::byte* packed) const {
  mine_.for_each_item(
      flush_, window, [&](std::size_t item, const FileDomain::Part& part, std::uint64_t) {
        packed = move_packed(flush_.plan.pieces(item), part.elements,
                             form_of(flush_, part.array, flow_), flush_.buffers[item], packed);
      });
}

void Rearranger::Messages::move_of_source(std::uint64_t cycle, const OfSource& message) {
  std::byte* from = packed(cycle) + message.begin;
  std::byte* const to = mine_.staging(mine_.me_, cycle);
  mine_.for_each_item(
      flush_, mine_.window(flush_, mine_.me_, cycle),
      [&](std::size_t item, const FileDomain::Part& part, std::uint64_t position) {
        const FlushPlan::OnLine its = flush_.plan.of_source(message.source, item, part.elements);
        from = move_runs(its.runs, its.part, without_swap(form_of(flush_, part.array, flow_)), from,
                         to + position);
      });
}

MPI_Request Rearranger::Messages::start(bool sends, std::byte* memory, std::uint64_t bytes,
                                        int rank) {
  const auto count = static_cast<int>(bytes);
  MPI_Comm const comm = mine_.comm_.get();
  MPI_Request request = MPI_REQUEST_NULL;
  if (sends) {
    check_mpi(MPI_Isend(memory, count, MPI_BYTE, rank, message_tag, comm, &request), "MPI_Isend");
    ++mine_.tally_.messages;
  } else {
    check_mpi(MPI_Irecv(memory, count, MPI_BYTE, rank, message_tag, comm, &request), "MPI_Irecv");
  }
  return request;
}

}  // namespace slabmark
