#include "core/parallel/node_clock.hpp"

#include <ctime>
#include <limits>
#include <memory>

namespace slabmark {

namespace {

constexpr int round_trips = 8;
constexpr int clock_tag = 3;

/// Root's part of it with another rank: returns by how much that one's clock is ahead.
std::int64_t ask_for_clock(const Comm& comm, int rank,
                           const std::function<std::uint64_t()>& clock) {
  std::int64_t ahead = 0;
  auto fastest = std::numeric_limits<std::uint64_t>::max();
  for (int i = 0; i < round_trips; ++i) {
    std::uint64_t theirs = 0;
    const std::uint64_t sent = clock();
    check_mpi(MPI_Send(nullptr, 0, MPI_BYTE, rank, clock_tag, comm.get()), "MPI_Send");
    check_mpi(MPI_Recv(&theirs, 1, MPI_UINT64_T, rank, clock_tag, comm.get(), MPI_STATUS_IGNORE),
              "MPI_Recv");
    const std::uint64_t took = clock() - sent;
    if (took >= fastest) continue;
    fastest = took;
    ahead = static_cast<std::int64_t>(theirs - (sent + took / 2));
  }
  return ahead;
}

void tell_clock(const Comm& comm, const std::function<std::uint64_t()>& clock) {
  for (int i = 0; i < round_trips; ++i) {
    check_mpi(MPI_Recv(nullptr, 0, MPI_BYTE, 0, clock_tag, comm.get(), MPI_STATUS_IGNORE),
              "MPI_Recv");
    const std::uint64_t now = clock();
    check_mpi(MPI_Send(&now, 1, MPI_UINT64_T, 0, clock_tag, comm.get()), "MPI_Send");
  }
}

std::unique_ptr<Comm> node_of(const Comm& comm) {
  MPI_Comm node = MPI_COMM_NULL;
  check_mpi(
      MPI_Comm_split_type(comm.get(), MPI_COMM_TYPE_SHARED, comm.rank(), MPI_INFO_NULL, &node),
      "MPI_Comm_split_type");
  return Comm::taking_over(node);
}

std::unique_ptr<Comm> first_of_nodes(const Comm& comm, const Comm& node) {
  MPI_Comm firsts = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split(comm.get(), node.is_root() ? 0 : MPI_UNDEFINED, comm.rank(), &firsts),
            "MPI_Comm_split");
  return firsts == MPI_COMM_NULL ? nullptr : Comm::taking_over(firsts);
}

}  // namespace

std::uint64_t node_time() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

std::int64_t clock_ahead_of_root(const Comm& comm, const std::function<std::uint64_t()>& clock) {
  std::int64_t mine = 0;
  if (!comm.is_root()) {
    tell_clock(comm, clock);
    check_mpi(MPI_Recv(&mine, 1, MPI_INT64_T, 0, clock_tag, comm.get(), MPI_STATUS_IGNORE),
              "MPI_Recv");
    return mine;
  }
  for (int rank = 1; rank < comm.size(); ++rank) {
    const std::int64_t ahead = ask_for_clock(comm, rank, clock);
    check_mpi(MPI_Send(&ahead, 1, MPI_INT64_T, rank, clock_tag, comm.get()), "MPI_Send");
  }
  return mine;
}

std::int64_t clock_ahead_of_root(const Comm& comm) {
  const auto node = node_of(comm);
  if (node->size() == comm.size()) return 0;
  std::int64_t ahead = 0;
  if (const auto firsts = first_of_nodes(comm, *node)) {
    ahead = clock_ahead_of_root(*firsts, node_time);
  }
  check_mpi(MPI_Bcast(&ahead, 1, MPI_INT64_T, 0, node->get()), "MPI_Bcast");
  return ahead;
}

}  // namespace slabmark
