#include "core/parallel/subset.hpp"

#include <thread>

namespace slabmark {

std::unique_ptr<Comm> first_ranks(const Comm& comm, int count) {
  MPI_Comm part = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split(comm.get(), comm.rank() < count ? 0 : MPI_UNDEFINED, comm.rank(), &part),
            "MPI_Comm_split");
  return part == MPI_COMM_NULL ? nullptr : Comm::taking_over(part);
}

bool wait_asleep(MPI_Request& request, std::chrono::microseconds pause,
                 std::chrono::duration<double> patience) {
  const auto start = std::chrono::steady_clock::now();
  int done = 0;
  while (true) {
    check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done != 0) return true;
    if (std::chrono::steady_clock::now() - start > patience) return false;
    std::this_thread::sleep_for(pause);
  }
}

void sleeping_barrier(const Comm& comm, std::chrono::microseconds pause) {
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Ibarrier(comm.get(), &request), "MPI_Ibarrier");
  wait_asleep(request, pause, std::chrono::duration<double>::max());
}

}  // namespace slabmark
