#include "bench/harness/bound.hpp"

#include <vector>

#include "bench/pattern/bound.hpp"

namespace slabmark {

namespace {

std::vector<BoundRound> bound_rounds(const Comm& comm, const Pattern& pattern) {
  std::vector<BoundRound> rounds;
  for (std::uint64_t round = 0; round < pattern.rounds; ++round) {
    std::uint64_t mine = 0;
    for (const Transfer& transfer : pattern.transfers(round)) {
      mine += moved_bytes(transfer, pattern.datasets[transfer.dataset]);
    }
    rounds.push_back({comm.sum_before(mine), mine, comm.sum(mine)});
  }
  return rounds;
}

// Every rank hands its places to the rank before it.
std::vector<BoundRound> next_ranks(const Comm& comm, const std::vector<BoundRound>& mine) {
  std::vector<BoundRound> next(mine.size());
  const int size = comm.size();
  const int count = static_cast<int>(mine.size() * sizeof(BoundRound));
  check_mpi(
      MPI_Sendrecv(mine.data(), count, MPI_BYTE, (comm.rank() + size - 1) % size, 0, next.data(),
                   count, MPI_BYTE, (comm.rank() + 1) % size, 0, comm.get(), MPI_STATUS_IGNORE),
      "MPI_Sendrecv");
  return next;
}

}  // namespace

Pattern bound_of(const Comm& comm, const Pattern& pattern, bool of_next_rank) {
  const std::vector<BoundRound> mine = bound_rounds(comm, pattern);
  return make_bound(pattern.name, of_next_rank ? next_ranks(comm, mine) : mine, pattern.file_policy,
                    pattern.files);
}

}  // namespace slabmark
