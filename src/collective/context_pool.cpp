#include "collective/context_pool.hpp"

#include <atomic>

namespace slabmark::collective {

bool has_ranks_of(const Comm& comm, MPI_Comm other) {
  int same = MPI_UNEQUAL;
  MPI_Comm_compare(comm.get(), other, &same);
  return same == MPI_IDENT || same == MPI_CONGRUENT;
}

// Each rank looks at the next one, since to look for all takes some MPIs the square of the ranks:
// where there are several worlds, some rank has a neighbor from another one.
bool are_of_one_world(const Comm& comm) {
  MPI_Group ours = MPI_GROUP_NULL, world = MPI_GROUP_NULL;
  MPI_Comm_group(comm.get(), &ours);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  const int next = (comm.rank() + 1) % comm.size();
  int in_world = MPI_UNDEFINED;
  MPI_Group_translate_ranks(ours, 1, &next, world, &in_world);
  MPI_Group_free(&ours);
  MPI_Group_free(&world);
  return in_world != MPI_UNDEFINED;
}

PoolProposal pool_proposal(MPI_Comm comm, std::uint64_t idle_on_root) {
  static std::atomic<std::uint64_t> made = 0;
  int rank = 0, in_world = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_rank(MPI_COMM_WORLD, &in_world);
  std::uint64_t numbers[] = {idle_on_root, 0};
  if (rank == 0) numbers[1] = (static_cast<std::uint64_t>(in_world) << 32) + ++made;
  check_mpi(MPI_Bcast(numbers, 2, MPI_UINT64_T, 0, comm), "MPI_Bcast");
  return {numbers[0], numbers[1]};
}

}  // namespace slabmark::collective
