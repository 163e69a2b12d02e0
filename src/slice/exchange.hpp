#pragma once

#include <cstddef>
#include <vector>

#include <mpi.h>

#include "parallel/comm.hpp"
#include "slice/plan.hpp"

namespace slabmark::slice {

/// Moves the rows of a plan from their owners to the writers, with datatypes made once.
class Exchange {
 public:
  /// The plan outlives it. All exchanges of a communicator are called in the same order on all
  /// ranks.
  Exchange(const Comm& comm, const Plan& plan);
  ~Exchange();
  Exchange(Exchange&& other) noexcept;
  Exchange& operator=(Exchange&&) = delete;

  /// Sends what lies in `outgoing` and receives into `written`.
  void run(const std::byte* outgoing, std::byte* written);

 private:
  struct Message {
    int rank;
    MPI_Datatype type;
    std::uint64_t offset;
  };

  MPI_Comm comm_;
  std::vector<Message> sent_;
  std::vector<Message> received_;
  std::vector<MPI_Request> requests_;
};

}  // namespace slabmark::slice
