#include "accel/hdf5_connector/ranks.hpp"

#include <algorithm>
#include <exception>

#include "core/parallel/agree.hpp"
#include "core/parallel/subset.hpp"

namespace slabmark::slablog {

bool Ranks::are_as(const Ranks& others) const {
  if (!comm_ || !others.comm_) return !comm_ && !others.comm_;
  int same = MPI_UNEQUAL;
  check_mpi(MPI_Comm_compare(comm_->get(), others.comm_->get(), &same), "MPI_Comm_compare");
  return same == MPI_IDENT || same == MPI_CONGRUENT;
}

std::vector<std::uint64_t> Ranks::sum(std::vector<std::uint64_t> values) const {
  if (!comm_) return values;
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()),
                          MPI_UINT64_T, MPI_SUM, comm_->get()),
            "MPI_Allreduce");
  return values;
}

std::vector<std::uint64_t> Ranks::sum_before(const std::vector<std::uint64_t>& values) const {
  return reduce_before(values, MPI_SUM);
}

std::vector<std::uint64_t> Ranks::max_before(const std::vector<std::uint64_t>& values) const {
  return reduce_before(values, MPI_MAX);
}

std::vector<std::uint64_t> Ranks::reduce_before(const std::vector<std::uint64_t>& values,
                                                MPI_Op operation) const {
  std::vector<std::uint64_t> before(values.size(), 0);
  if (!comm_) return before;
  check_mpi(MPI_Exscan(values.data(), before.data(), static_cast<int>(values.size()), MPI_UINT64_T,
                       operation, comm_->get()),
            "MPI_Exscan");
  if (comm_->is_root()) std::fill(before.begin(), before.end(), 0);
  return before;
}

void Ranks::agreed(const std::function<void()>& stage) const {
  if (comm_) {
    slabmark::agreed(*comm_, stage);
  } else {
    stage();
  }
}

void Ranks::agreed_sleeping(const std::function<void()>& stage) const {
  if (!comm_) return stage();
  slabmark::agreed(*comm_, [&] {
    std::exception_ptr failure;
    try {
      stage();
    } catch (...) {
      failure = std::current_exception();
    }
    sleeping_barrier(*comm_, std::chrono::microseconds(200));
    if (failure) std::rethrow_exception(failure);
  });
}

}  // namespace slabmark::slablog
