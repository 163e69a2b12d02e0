#include "program/slabmark-probe/nodes.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <span>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/host_name.hpp"
#include "base/number.hpp"
#include "measure/order.hpp"
#include "parallel/agree.hpp"
#include "program/slabmark-probe/measure.hpp"
#include "storage/posix/file.hpp"
#include "storage/posix/file_size_limit.hpp"

namespace slabmark::probe {

namespace {

using Meeting = std::pair<std::size_t, std::size_t>;
using Rounds = std::vector<std::vector<Meeting>>;

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

std::uint64_t seed_of(int rank, std::uint64_t trial) {
  return static_cast<std::uint64_t>(rank) << 32 ^ trial;
}

void require_same(std::span<const std::byte> expected, std::span<const std::byte> found, int writer,
                  const char* what) {
  if (std::equal(found.begin(), found.end(), expected.begin())) return;
  throw IoError(
      fmt::format("{} of rank {} did not arrive as it was; no figure is given.", what, writer));
}

/// What goes from one rank to another, several messages at a time; the receiver says when it is
/// ready and when it has all, so that one clock measures.
class Stream {
 public:
  Stream(const Comm& comm, const Options& options)
      : comm_(comm), block_(options.block), slots_(window * options.block) {}

  /// Seconds from the receiver's word that it is ready until its word that it has all.
  double send(int to, std::uint64_t bytes, std::uint64_t trial) {
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

  void receive(int from, std::uint64_t bytes, std::uint64_t trial) {
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
      require_same(expected,
                   std::span(slots_).subspan(last % window * block_, size_of(bytes, last)), from,
                   "A message");
    }
  }

 private:
  static constexpr std::size_t window = 8;
  static constexpr int data_tag = 1, word_tag = 2;

  std::uint64_t size_of(std::uint64_t bytes, std::uint64_t block) const {
    return std::min(block_, bytes - block * block_);
  }

  template <class Start>
  void each_block(std::uint64_t bytes, const Start& start) {
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

  void wait_for_word(int from) {
    check_mpi(MPI_Recv(nullptr, 0, MPI_BYTE, from, word_tag, comm_.get(), MPI_STATUS_IGNORE),
              "MPI_Recv");
  }

  const Comm& comm_;
  const std::uint64_t block_;
  std::vector<std::byte> slots_;
};

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

/// What both measurements know of the run.
class Nodes {
 public:
  Nodes(const Comm& comm, const Options& options)
      : comm_(comm),
        options_(options),
        nodes_(find_nodes(comm, options.ranks_as_node)),
        order_(nodes_.size(), options.run.seed),
        stream_(comm, options) {
    for (std::size_t node = 0; node < nodes_.size(); ++node) {
      const auto& ranks = nodes_[node].ranks;
      const auto found = std::find(ranks.begin(), ranks.end(), comm.rank());
      if (found == ranks.end()) continue;
      mine_ = node;
      local_ = static_cast<std::size_t>(found - ranks.begin());
    }
  }

  CellRecord begin(const std::string& pattern, const std::string& method,
                   const std::string& direction, std::uint64_t bytes) const {
    CellRecord record = begin_record(comm_, options_, pattern, method, direction);
    record.pattern.bytes = bytes;
    record.pattern.settings = {{"block", fmt::to_string(options_.block)}};
    if (options_.ranks_as_node > 0) {
      record.pattern.settings["ranks as node"] = fmt::to_string(options_.ranks_as_node);
    }
    record.verified.elements = bytes;
    return record;
  }

  bool is_one() const { return nodes_.size() == 1; }

  nlohmann::json names() const {
    nlohmann::json found = nlohmann::json::array();
    for (const Node& node : nodes_) found.push_back(node.name);
    return found;
  }

  /// Bytes of all meetings of a trial.
  std::uint64_t bytes_of_meetings() const {
    std::uint64_t bytes = 0;
    std::vector<std::size_t> order(nodes_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    for (const auto& round : tournament(order, options_.meetings)) {
      bytes += 2 * options_.bytes * round.size();
    }
    return bytes;
  }

  /// A tournament; on root its seconds: of each node, and of each meeting.
  std::pair<nlohmann::json, nlohmann::json> meet(PhaseClock& clock, std::uint64_t trial) {
    const Rounds rounds = tournament(order_.next_round(), options_.meetings);
    std::vector<double> sent(rounds.size(), 0.0);
    clock.time(Phase::post, [&] {
      for (std::size_t r = 0; r < rounds.size(); ++r) {
        for (const Meeting& meeting : rounds[r]) sent[r] += take_part(meeting, trial);
        comm_.barrier();
      }
    });
    const auto all = gather_rows(comm_, sent);
    return comm_.is_root() ? seconds_of(rounds, all) : std::pair<nlohmann::json, nlohmann::json>();
  }

  /// Each node writes files of its own, one a rank; on root the seconds of each node.
  nlohmann::json write(PhaseClock& clock, std::uint64_t trial, const std::string& folder) {
    const std::vector<std::size_t> order = order_.next_round();
    const std::size_t at_once = options_.writers > 0 ? options_.writers : nodes_.size();
    double seconds = 0.0;
    std::unique_ptr<RemoveOnAbort> guard;
    const std::string path = path_of(folder, comm_.rank());
    for (std::size_t first = 0; first < order.size(); first += at_once) {
      const auto last = std::min(first + at_once, order.size());
      clock.time(Phase::post, [&] {
        for (std::size_t i = first; i < last; ++i) {
          if (order[i] != mine_) continue;
          guard = std::make_unique<RemoveOnAbort>(path);
          const auto start = std::chrono::steady_clock::now();
          write_file(path, trial);
          seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        }
      });
    }
    clock.pause([&] { check_file(folder, trial); });
    clock.pause([&] { posix::unlink(path); });
    const std::vector<double> all = comm_.gather(seconds);
    nlohmann::json of_nodes = nlohmann::json::array();
    for (const Node& node : nodes_) {
      if (comm_.is_root()) of_nodes.push_back(slowest(node.ranks, node.ranks.size(), all));
    }
    return of_nodes;
  }

  std::uint64_t bytes_of_files() const {
    return product_or_most(options_.file_bytes, nodes_.size());
  }

  /// Throws IoError if this rank may not write its part, or the parts of all do not fit.
  void require_room(const std::string& folder) const {
    posix::require_file_size_allowed(path_of(folder, comm_.rank()), file_bytes(mine_, local_));
    if (comm_.is_root()) posix::require_space(folder, bytes_of_files());
  }

 private:
  static double slowest(const std::vector<int>& ranks, std::size_t count,
                        const std::vector<double>& seconds) {
    double found = 0.0;
    for (std::size_t i = 0; i < count; ++i) {
      found = std::max(found, seconds[static_cast<std::size_t>(ranks[i])]);
    }
    return found;
  }

  /// Ranks of one node work with those of another one by one.
  std::size_t pairs_of(const Meeting& meeting) const {
    return std::min(nodes_[meeting.first].ranks.size(), nodes_[meeting.second].ranks.size());
  }

  /// One way, then the other; seconds in which this rank sent.
  double take_part(const Meeting& meeting, std::uint64_t trial) {
    const auto& [one, other] = meeting;
    const std::size_t pairs = pairs_of(meeting);
    if ((mine_ != one && mine_ != other) || local_ >= pairs) return 0.0;
    const std::uint64_t bytes = std::max<std::uint64_t>(1, options_.bytes / pairs);
    const int peer = nodes_[mine_ == one ? other : one].ranks[local_];
    if (mine_ == other) stream_.receive(peer, bytes, trial);
    const double seconds = stream_.send(peer, bytes, trial);
    if (mine_ == one) stream_.receive(peer, bytes, trial);
    return seconds;
  }

  /// A node's seconds are the lower median of those of its meetings, each the slower way: half of
  /// its partners may be slow before it seems to be.
  std::pair<nlohmann::json, nlohmann::json> seconds_of(
      const Rounds& rounds, const std::vector<std::vector<double>>& sent) const {
    std::vector<std::vector<double>> of_node(nodes_.size());
    nlohmann::json meetings = nlohmann::json::array();
    std::vector<double> column(sent.size());
    for (std::size_t r = 0; r < rounds.size(); ++r) {
      std::transform(sent.begin(), sent.end(), column.begin(),
                     [&](const auto& row) { return row[r]; });
      for (const Meeting& meeting : rounds[r]) {
        const std::size_t pairs = pairs_of(meeting);
        const double there = slowest(nodes_[meeting.first].ranks, pairs, column);
        const double back = slowest(nodes_[meeting.second].ranks, pairs, column);
        meetings.push_back({meeting.first, meeting.second, there, back});
        for (const std::size_t node : {meeting.first, meeting.second}) {
          of_node[node].push_back(std::max(there, back));
        }
      }
    }
    nlohmann::json seconds = nlohmann::json::array();
    for (const auto& values : of_node) {
      // Of an odd number of nodes one waits in each round.
      seconds.push_back(values.empty() ? nlohmann::json() : nlohmann::json(lower_median(values)));
    }
    return {seconds, meetings};
  }

  static std::string path_of(const std::string& folder, int rank) {
    return fmt::format("{}/rank-{}", folder, rank);
  }

  /// Ranks of a node share what it writes.
  std::uint64_t file_bytes(std::size_t node, std::size_t local) const {
    const std::size_t ranks = nodes_[node].ranks.size();
    return options_.file_bytes / ranks + (local < options_.file_bytes % ranks ? 1 : 0);
  }

  void write_file(const std::string& path, std::uint64_t trial) {
    posix::File file = posix::File::create(path);
    each_part(comm_.rank(), file_bytes(mine_, local_), trial,
              [&](std::uint64_t offset, std::span<std::byte> block) {
                file.write_at(offset, block.data(), block.size());
              });
    if (options_.run.sync) file.sync();
    file.close();
  }

  void check_file(const std::string& folder, std::uint64_t trial) {
    const int writer = rank_to_look_at(comm_, nodes_);
    std::uint64_t bytes = 0;
    for (std::size_t node = 0; node < nodes_.size(); ++node) {
      const auto& ranks = nodes_[node].ranks;
      const auto found = std::find(ranks.begin(), ranks.end(), writer);
      if (found == ranks.end()) continue;
      bytes = file_bytes(node, static_cast<std::size_t>(found - ranks.begin()));
    }
    posix::File file = posix::File::open(path_of(folder, writer), posix::File::Access::read);
    std::vector<std::byte> read(options_.block);
    each_part(writer, bytes, trial, [&](std::uint64_t offset, std::span<std::byte> block) {
      file.read_at(offset, read.data(), block.size());
      require_same(block, std::span(read).first(block.size()), writer, "A file");
    });
  }

  /// Blocks of the content of a rank's file; the first bytes of each are its number.
  template <class Move>
  void each_part(int rank, std::uint64_t bytes, std::uint64_t trial, const Move& move) {
    std::vector<std::byte> block = content(seed_of(rank, trial), options_.block);
    for (std::uint64_t offset = 0; offset < bytes; offset += options_.block) {
      stamp(block, offset / options_.block);
      move(offset, std::span(block).first(std::min(options_.block, bytes - offset)));
    }
  }

  const Comm& comm_;
  const Options& options_;
  std::vector<Node> nodes_;
  TrialOrder order_;
  Stream stream_;
  std::size_t mine_ = 0;   ///< the node of this rank
  std::size_t local_ = 0;  ///< its number there
};

}  // namespace

std::vector<Node> find_nodes(const Comm& comm, std::uint64_t ranks_as_node) {
  int key = comm.rank();
  if (ranks_as_node > 0) {
    key = static_cast<int>(static_cast<std::uint64_t>(comm.rank()) / ranks_as_node);
  } else {
    MPI_Comm shared = MPI_COMM_NULL;
    check_mpi(
        MPI_Comm_split_type(comm.get(), MPI_COMM_TYPE_SHARED, comm.rank(), MPI_INFO_NULL, &shared),
        "MPI_Comm_split_type");
    const std::unique_ptr<Comm> node = Comm::taking_over(shared);
    check_mpi(MPI_Bcast(&key, 1, MPI_INT, 0, node->get()), "MPI_Bcast");
  }
  std::vector<int> keys(static_cast<std::size_t>(comm.size()));
  check_mpi(MPI_Allgather(&key, 1, MPI_INT, keys.data(), 1, MPI_INT, comm.get()), "MPI_Allgather");
  const std::vector<std::string> hosts = comm.gather(host_name());
  std::vector<Node> nodes;
  std::map<int, std::size_t> places;
  for (std::size_t rank = 0; rank < keys.size(); ++rank) {
    const auto [place, is_new] = places.emplace(keys[rank], nodes.size());
    if (is_new) {
      Node& node = nodes.emplace_back();
      if (comm.is_root()) node.name = hosts[rank];
      if (comm.is_root() && ranks_as_node > 0) node.name += fmt::format(", rank {}", rank);
    }
    nodes[place->second].ranks.push_back(static_cast<int>(rank));
  }
  return nodes;
}

int rank_to_look_at(const Comm& comm, const std::vector<Node>& nodes) {
  std::vector<int> ranks;  // node by node
  std::size_t largest = 0;
  for (const Node& node : nodes) {
    ranks.insert(ranks.end(), node.ranks.begin(), node.ranks.end());
    largest = std::max(largest, node.ranks.size());
  }
  const auto mine = std::find(ranks.begin(), ranks.end(), comm.rank()) - ranks.begin();
  return ranks[(static_cast<std::size_t>(mine) + largest) % ranks.size()];
}

std::vector<CellRecord> probe_nodes(const Comm& comm, const Options& options) {
  Nodes nodes(comm, options);
  const ScratchFolder folder(comm, options.directory, options.run.overwrite);
  std::vector<nlohmann::json> meetings, of_messages, of_files;
  std::vector<Turn> turns(1);
  turns[0].record =
      nodes.begin("messages between nodes", "messages", "exchange", nodes.bytes_of_meetings());
  turns[0].record.method_summary = "each pair of nodes one way, then the other";
  turns[0].record.pattern.settings["bytes each way"] = fmt::to_string(options.bytes);
  turns[0].record.verified.by = "each receiver, its last messages";
  if (nodes.is_one()) {
    turns[0].record.unsupported =
        "there is one node only: start this on 3 or more, or see --ranks-as-node";
  }
  turns[0].run = [&](PhaseClock& clock, std::uint64_t trial, bool warm_up) {
    auto [seconds, pairs] = nodes.meet(clock, trial);
    if (warm_up) return;
    of_messages.push_back(std::move(seconds));
    meetings.push_back(std::move(pairs));
  };
  if (options.file_bytes > 0) {
    agreed(comm, [&] { nodes.require_room(folder.path()); });
    Turn& turn = turns.emplace_back();
    turn.record =
        nodes.begin("a file from each node", "file-a-node", "write", nodes.bytes_of_files());
    turn.record.method_summary = "each rank writes its part of the node's bytes to its own file";
    turn.record.pattern.settings["bytes of a node"] = fmt::to_string(options.file_bytes);
    if (options.writers > 0) {
      turn.record.pattern.settings["nodes at a time"] = fmt::to_string(options.writers);
    }
    turn.record.verified.by = "plain reader on another node";
    turn.run = [&](PhaseClock& clock, std::uint64_t trial, bool warm_up) {
      auto seconds = nodes.write(clock, trial, folder.path());
      if (!warm_up) of_files.push_back(std::move(seconds));
    };
  }
  std::vector<CellRecord> records = run_turns(comm, options, std::move(turns));
  const auto enter = [&](CellRecord& record, const std::vector<nlohmann::json>& seconds) {
    record.effective["of_nodes"] = {{"hosts", nodes.names()}, {"seconds", seconds}};
  };
  if (!nodes.is_one()) {
    enter(records[0], of_messages);
    records[0].effective["of_nodes"]["meetings"] = meetings;
  }
  if (records.size() > 1) enter(records[1], of_files);
  return records;
}

}  // namespace slabmark::probe
