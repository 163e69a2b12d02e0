#include "exchange/run_exchange.hpp"

#include <algorithm>

namespace slabmark {
namespace {

static_assert(sizeof(Run) == 2 * sizeof(std::uint64_t));

/// A run as MPI sees it, so that message counts are counts of runs.
class RunType {
 public:
  RunType() {
    check_mpi(MPI_Type_contiguous(2, MPI_UINT64_T, &type_), "MPI_Type_contiguous");
    check_mpi(MPI_Type_commit(&type_), "MPI_Type_commit");
  }
  ~RunType() { MPI_Type_free(&type_); }
  RunType(const RunType&) = delete;
  RunType& operator=(const RunType&) = delete;

  MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

constexpr int tag = 0;

/// Calls `start(begin, count)` for each message that `count` runs from position `begin` on take.
template <class Start>
void in_messages(std::uint64_t begin, std::uint64_t count, std::uint64_t most, const Start& start) {
  while (count > 0) {
    const std::uint64_t now = std::min(count, most);
    start(begin, static_cast<int>(now));
    begin += now;
    count -= now;
  }
}

std::vector<std::uint64_t> starts_of(const std::vector<std::uint64_t>& counts) {
  std::vector<std::uint64_t> starts(counts.size() + 1, 0);
  for (std::size_t r = 0; r < counts.size(); ++r) starts[r + 1] = starts[r] + counts[r];
  return starts;
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

RunList exchange_runs(const Comm& comm, const RunList& outgoing,
                      const std::vector<std::uint64_t>& counts, std::uint64_t most_per_message) {
  const std::vector<std::uint64_t> their_counts = exchange_counts(comm, counts);
  const std::vector<std::uint64_t> from = starts_of(counts);
  const std::vector<std::uint64_t> to = starts_of(their_counts);
  RunList incoming(to.back());
  const RunType type;
  std::vector<MPI_Request> requests;

  for (int r = 0; r < comm.size(); ++r) {
    if (r == comm.rank()) continue;
    in_messages(to[r], their_counts[r], most_per_message, [&](std::uint64_t begin, int count) {
      check_mpi(MPI_Irecv(&incoming[begin], count, type.get(), r, tag, comm.get(),
                          &requests.emplace_back()),
                "MPI_Irecv");
    });
  }
  for (int step = 1; step < comm.size(); ++step) {
    // Everyone begins with another receiver, lest all send to rank 0 at once.
    const int r = (comm.rank() + step) % comm.size();
    in_messages(from[r], counts[r], most_per_message, [&](std::uint64_t begin, int count) {
      check_mpi(MPI_Isend(&outgoing[begin], count, type.get(), r, tag, comm.get(),
                          &requests.emplace_back()),
                "MPI_Isend");
    });
  }
  const auto me = static_cast<std::size_t>(comm.rank());
  std::copy(outgoing.begin() + from[me], outgoing.begin() + from[me + 1],
            incoming.begin() + to[me]);
  check_mpi(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE),
            "MPI_Waitall");
  return incoming;
}

}  // namespace slabmark
