#include "collective/exchange/run_exchange.hpp"

#include <algorithm>

#include "core/parallel/datatype.hpp"

namespace slabmark {
namespace {

static_assert(sizeof(Run) == 2 * sizeof(std::uint64_t));

constexpr int run_tag = 0;

/// Calls `start(begin, length)` for each message that `count` runs take.
template <class Start>
void in_messages(std::uint64_t count, std::uint64_t most, const Start& start) {
  for (std::uint64_t begin = 0; begin < count; begin += most) {
    start(begin, static_cast<int>(std::min(count - begin, most)));
  }
}

}  // namespace

std::vector<std::uint64_t> exchange_counts(const Comm& comm,
                                           const std::vector<std::uint64_t>& counts) {
  std::vector<std::uint64_t> theirs(counts.size());
  check_mpi(
      MPI_Alltoall(counts.data(), 1, MPI_UINT64_T, theirs.data(), 1, MPI_UINT64_T, comm.get()),
      "MPI_Alltoall");
  return theirs;
}

std::vector<RunList> exchange_runs(const Comm& comm, const std::vector<RunList>& outgoing,
                                   std::uint64_t most_per_message) {
  std::vector<std::uint64_t> counts;
  for (const RunList& runs : outgoing) counts.push_back(runs.size());
  std::vector<RunList> incoming;
  for (const std::uint64_t count : exchange_counts(comm, counts)) incoming.emplace_back(count);
  const Datatype type = contiguous(2, MPI_UINT64_T);
  std::vector<MPI_Request> requests;

  for (int r = 0; r < comm.size(); ++r) {
    if (r == comm.rank()) continue;
    in_messages(incoming[r].size(), most_per_message, [&](std::uint64_t begin, int count) {
      check_mpi(MPI_Irecv(&incoming[r][begin], count, type.get(), r, run_tag, comm.get(),
                          &requests.emplace_back()),
                "MPI_Irecv");
    });
  }
  for (int step = 1; step < comm.size(); ++step) {
    // Everyone begins with another receiver, lest all send to rank 0 at once.
    const int r = (comm.rank() + step) % comm.size();
    in_messages(outgoing[r].size(), most_per_message, [&](std::uint64_t begin, int count) {
      check_mpi(MPI_Isend(&outgoing[r][begin], count, type.get(), r, run_tag, comm.get(),
                          &requests.emplace_back()),
                "MPI_Isend");
    });
  }
  incoming[comm.rank()] = outgoing[comm.rank()];
  check_mpi(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE),
            "MPI_Waitall");
  return incoming;
}

}  // namespace slabmark
