#include "programs/probe/messages.hpp"

#include <algorithm>
#include <chrono>
#include <span>

#include "core/base/error.hpp"
#include "programs/probe/measure.hpp"

namespace slabmark::probe {

namespace {

constexpr std::size_t window = 8;  // messages at a time
constexpr int data_tag = 1, word_tag = 2;

/// Rounds in which each node meets one other, at most one node waits, and no two meet twice: the
/// circle method of round-robin tournaments, on nodes in the given order.
Rounds tournament(const std::vector<std::size_t>& order, std::uint64_t most_rounds) {
  const std::size_t circle = (order.size() - 1) | 1;  // one player stays, the others go round
  Rounds rounds(std::min<std::uint64_t>(most_rounds, circle));
  for (std::size_t r = 0; r < rounds.size(); ++r) {
    const auto meet = [&](std::size_t a, std::size_t b) {
      if (std::max(a, b) < order.size()) rounds[r].emplace_back(order[a], order[b]);
    };
    meet(r, circle);
    for (std::size_t i = 1; i <= circle / 2; ++i) {
      meet((r + i) % circle, (r + circle - i) % circle);
    }
  }
  return rounds;
}

/// On root, a row a rank of what each has of `mine`.
std::vector<std::vector<double>> gather_rows(const Comm& comm, const std::vector<double>& mine) {
  const auto ranks = static_cast<std::size_t>(comm.size());
  std::vector<double> all(comm.is_root() ? ranks * mine.size() : 0);
  const int count = static_cast<int>(mine.size());
  check_mpi(
      MPI_Gather(mine.data(), count, MPI_DOUBLE, all.data(), count, MPI_DOUBLE, 0, comm.get()),
      "MPI_Gather");
  std::vector<std::vector<double>> rows;
  for (std::size_t rank = 0; rank < ranks && comm.is_root(); ++rank) {
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(rank * mine.size());
    rows.emplace_back(first, first + count);
  }
  return rows;
}

/// The lower one of two in the middle.
double lower_median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

Stream::Stream(const Comm& comm, std::uint64_t block)
    : comm_(comm), block_(block), slots_(window * block) {}

std::uint64_t Stream::size_of(std::uint64_t bytes, std::uint64_t block) const {
  return std::min(block_, bytes - block * block_);
}

template <class Start>
void Stream::each_block(std::uint64_t bytes, const Start& start) {
  std::vector<MPI_Request> requests(window, MPI_REQUEST_NULL);
  std::uint64_t block = 0;
  for (std::uint64_t done = 0; done < bytes; done += block_, ++block) {
    const std::size_t slot = block % window;
    check_mpi(MPI_Wait(&requests[slot], MPI_STATUS_IGNORE), "MPI_Wait");
    start(slot, size_of(bytes, block), requests[slot]);
  }
  check_mpi(MPI_Waitall(static_cast<int>(window), requests.data(), MPI_STATUSES_IGNORE),
            "MPI_Waitall");
}

void Stream::wait_for_word(int from) {
  check_mpi(MPI_Recv(nullptr, 0, MPI_BYTE, from, word_tag, comm_.get(), MPI_STATUS_IGNORE),
            "MPI_Recv");
}

double Stream::send(int to, std::uint64_t bytes, std::uint64_t trial) {
  const std::vector<std::byte> sent = content(seed_of(comm_.rank(), trial), size_of(bytes, 0));
  wait_for_word(to);
  const auto start = std::chrono::steady_clock::now();
  each_block(bytes, [&](std::size_t, std::uint64_t size, MPI_Request& request) {
    check_mpi(MPI_Isend(sent.data(), static_cast<int>(size), MPI_BYTE, to, data_tag, comm_.get(),
                        &request),
              "MPI_Isend");
  });
  wait_for_word(to);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void Stream::receive(int from, std::uint64_t bytes, std::uint64_t trial) {
  std::fill(slots_.begin(), slots_.end(), std::byte{0});
  bool is_ready = false;
  const auto say = [&] {
    check_mpi(MPI_Send(nullptr, 0, MPI_BYTE, from, word_tag, comm_.get()), "MPI_Send");
  };
  const std::uint64_t blocks = (bytes + block_ - 1) / block_;
  std::uint64_t posted = 0;
  each_block(bytes, [&](std::size_t slot, std::uint64_t size, MPI_Request& request) {
    check_mpi(MPI_Irecv(slots_.data() + slot * block_, static_cast<int>(size), MPI_BYTE, from,
                        data_tag, comm_.get(), &request),
              "MPI_Irecv");
    if (is_ready || ++posted < std::min<std::uint64_t>(blocks, window)) return;
    is_ready = true;
    say();
  });
  say();
  const std::vector<std::byte> expected = content(seed_of(from, trial), size_of(bytes, 0));
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(blocks, window); ++i) {
    const std::uint64_t last = blocks - 1 - i;  // that came into its slot
    require_same(expected, std::span(slots_).subspan(last % window * block_, size_of(bytes, last)),
                 from, "A message");
  }
}

Messages::Messages(const Comm& comm, const Options& options, const Topology& topology)
    : comm_(comm),
      options_(options),
      topology_(topology),
      order_(topology.nodes().size(), options.run.seed),
      stream_(comm, options.request_size) {}

std::uint64_t Messages::bytes() const {
  std::uint64_t bytes = 0;
  std::vector<std::size_t> order(topology_.nodes().size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  for (const auto& round : tournament(order, options_.meetings)) {
    bytes += 2 * options_.pair_bytes * round.size();
  }
  return bytes;
}

std::pair<Json, Json> Messages::meet(PhaseClock& clock, std::uint64_t trial) {
  const Rounds rounds = tournament(order_.next_round(), options_.meetings);
  std::vector<double> sent(rounds.size(), 0.0);
  clock.time(Phase::post, [&] {
    for (std::size_t r = 0; r < rounds.size(); ++r) {
      for (const Meeting& meeting : rounds[r]) sent[r] += take_part(meeting, trial);
      comm_.barrier();
    }
  });
  const auto all = gather_rows(comm_, sent);
  return comm_.is_root() ? seconds_of(rounds, all) : std::pair<Json, Json>();
}

/// Ranks of one node work with those of another one by one.
std::size_t Messages::pairs_of(const Meeting& meeting) const {
  const auto& nodes = topology_.nodes();
  return std::min(nodes[meeting.first].ranks.size(), nodes[meeting.second].ranks.size());
}

/// One way, then the other; seconds in which this rank sent.
double Messages::take_part(const Meeting& meeting, std::uint64_t trial) {
  const auto& [one, other] = meeting;
  const std::size_t pairs = pairs_of(meeting);
  const std::size_t mine = topology_.node_of_this_rank();
  const std::size_t number = topology_.number_on_node();
  if ((mine != one && mine != other) || number >= pairs) return 0.0;
  const std::uint64_t bytes = std::max<std::uint64_t>(1, options_.pair_bytes / pairs);
  const int peer = topology_.nodes()[mine == one ? other : one].ranks[number];
  if (mine == other) stream_.receive(peer, bytes, trial);
  const double seconds = stream_.send(peer, bytes, trial);
  if (mine == one) stream_.receive(peer, bytes, trial);
  return seconds;
}

/// A node's seconds are the lower median of those of its meetings, each the slower way: half of
/// its partners may be slow before it seems to be.
std::pair<Json, Json> Messages::seconds_of(const Rounds& rounds,
                                           const std::vector<std::vector<double>>& sent) const {
  const auto& nodes = topology_.nodes();
  std::vector<std::vector<double>> of_node(nodes.size());
  Json meetings = Json::array();
  std::vector<double> column(sent.size());
  for (std::size_t r = 0; r < rounds.size(); ++r) {
    std::transform(sent.begin(), sent.end(), column.begin(),
                   [&](const auto& row) { return row[r]; });
    for (const Meeting& meeting : rounds[r]) {
      const std::size_t pairs = pairs_of(meeting);
      const double there = slowest(nodes[meeting.first].ranks, pairs, column);
      const double back = slowest(nodes[meeting.second].ranks, pairs, column);
      meetings.push_back({meeting.first, meeting.second, there, back});
      for (const std::size_t node : {meeting.first, meeting.second}) {
        of_node[node].push_back(std::max(there, back));
      }
    }
  }
  Json seconds = Json::array();
  for (const auto& values : of_node) {
    // Of an odd number of nodes one waits in each round.
    seconds.push_back(values.empty() ? Json() : Json(lower_median(values)));
  }
  return {seconds, meetings};
}

}  // namespace slabmark::probe
