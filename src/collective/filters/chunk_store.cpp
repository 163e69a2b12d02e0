#include "collective/filters/chunk_store.hpp"

#include <algorithm>

#include "core/parallel/agree.hpp"
#include "core/parallel/datatype.hpp"

namespace slabmark {

namespace {

Datatype chunk_type() {
  static_assert(sizeof(FilteredChunk) == 4 * sizeof(std::uint64_t));
  return contiguous(4, MPI_UINT64_T);
}

/// How many chunks each rank has, and where those of each begin among all.
struct Shares {
  std::vector<int> counts, begins;
  std::size_t total = 0;
};

Shares shares_of(const Comm& comm, std::size_t mine) {
  const auto ranks = static_cast<std::size_t>(comm.size());
  Shares shares{std::vector<int>(ranks), {}, 0};
  const int count = static_cast<int>(mine);
  check_mpi(MPI_Allgather(&count, 1, MPI_INT, shares.counts.data(), 1, MPI_INT, comm.get()),
            "MPI_Allgather");
  for (const int theirs : shares.counts) {
    shares.begins.push_back(static_cast<int>(shares.total));
    shares.total += static_cast<std::size_t>(theirs);
  }
  return shares;
}

}  // namespace

void by_root(const Comm& comm, std::vector<FilteredChunk>& mine, const ChunkWork& work) {
  const Shares shares = shares_of(comm, mine.size());
  if (shares.total == 0) return;
  const Datatype type = chunk_type();
  std::vector<FilteredChunk> all(comm.is_root() ? shares.total : 0);
  check_mpi(MPI_Gatherv(mine.data(), static_cast<int>(mine.size()), type.get(), all.data(),
                        shares.counts.data(), shares.begins.data(), type.get(), 0, comm.get()),
            "MPI_Gatherv");
  agreed(comm, [&] {
    if (comm.is_root()) work(all);
  });
  check_mpi(MPI_Scatterv(all.data(), shares.counts.data(), shares.begins.data(), type.get(),
                         mine.data(), static_cast<int>(mine.size()), type.get(), 0, comm.get()),
            "MPI_Scatterv");
}

void by_all(const Comm& comm, std::vector<FilteredChunk>& mine, const ChunkWork& work) {
  const Shares shares = shares_of(comm, mine.size());
  if (shares.total == 0) return;
  const Datatype type = chunk_type();
  std::vector<FilteredChunk> all(shares.total);
  check_mpi(MPI_Allgatherv(mine.data(), static_cast<int>(mine.size()), type.get(), all.data(),
                           shares.counts.data(), shares.begins.data(), type.get(), comm.get()),
            "MPI_Allgatherv");
  agreed(comm, [&] { work(all); });
  std::copy_n(all.begin() + shares.begins[static_cast<std::size_t>(comm.rank())], mine.size(),
              mine.begin());
}

}  // namespace slabmark
