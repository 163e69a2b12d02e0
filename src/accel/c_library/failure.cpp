#include "accel/c_library/failure.hpp"

#include <new>
#include <vector>

#include <fmt/format.h>

#include "accel/c_library/api/rearrange.h"
#include "core/base/error.hpp"
#include "core/base/host_name.hpp"

namespace slabmark::rearrange {

Failure failure_of(const std::exception_ptr& exception, int input_error) {
  try {
    std::rethrow_exception(exception);
  } catch (const Failure& failure) {
    return failure;
  } catch (const Error& error) {
    return {error.status() == ExitStatus::bad_input ? input_error : SLABMARK_EIO, error.what()};
  } catch (const std::bad_alloc&) {
    return {SLABMARK_ENOMEM, "Memory is exhausted; use more nodes, or hold less at a time."};
  } catch (const std::exception& error) {
    return {SLABMARK_EIO, fmt::format("Internal error: {}.", error.what())};
  }
}

std::exception_ptr caught(const std::function<void()>& step) {
  try {
    step();
  } catch (const std::exception&) {  // not "...": the end of a thread must go through
    return std::current_exception();
  }
  return nullptr;
}

void agree(const Comm& comm, const std::exception_ptr& exception, int input_error,
           std::span<std::int64_t> values) {
  std::vector<std::int64_t> vote{exception ? comm.size() - comm.rank() : 0};
  vote.insert(vote.end(), values.begin(), values.end());
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, vote.data(), static_cast<int>(vote.size()), MPI_INT64_T,
                          MPI_MAX, comm.get()),
            "MPI_Allreduce");
  if (vote.front() == 0) {
    std::copy(vote.begin() + 1, vote.end(), values.begin());
    return;
  }
  const int failing = comm.size() - static_cast<int>(vote.front());
  Failure mine(0, "");
  if (exception) mine = failure_of(exception, input_error);
  std::string message = mine.what();
  if (comm.rank() == failing && failing != 0) {
    message = fmt::format("rank {} on host {}: {}", failing, host_name(), message);
  }
  const auto code = comm.broadcast(static_cast<std::uint64_t>(-mine.code()), failing);
  throw Failure(-static_cast<int>(code), comm.broadcast(message, failing));
}

void agreed(const Comm& comm, int input_error, const std::function<void()>& step) {
  agree(comm, caught(step), input_error);
}

}  // namespace slabmark::rearrange
