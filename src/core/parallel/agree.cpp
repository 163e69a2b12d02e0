#include "core/parallel/agree.hpp"

#include <chrono>
#include <climits>
#include <filesystem>

#include <fmt/format.h>

#include "core/base/host_name.hpp"
#include "core/parallel/abort.hpp"
#include "core/parallel/subset.hpp"

namespace slabmark {

namespace {

struct Failure {
  ExitStatus status = ExitStatus::failed;
  std::string message;
};

Failure describe(std::exception_ptr failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const Error& error) {
    return {error.status(), error.what()};
  } catch (const std::bad_alloc&) {
    return {ExitStatus::failed, "Memory is exhausted; use more nodes or a smaller case."};
  } catch (const std::filesystem::filesystem_error& error) {
    // Names come from the user; what else can be wrong with them is asked where they are used.
    const bool is_name = error.code() == std::errc::filename_too_long ||
                         error.code() == std::errc::too_many_symbolic_link_levels;
    return {is_name ? ExitStatus::bad_input : ExitStatus::failed,
            fmt::format("The path '{}' cannot be used ({}); choose another.",
                        error.path1().string(), error.code().message())};
  } catch (const std::exception& error) {
    return {ExitStatus::failed, fmt::format("Internal error: {}.", error.what())};
  }
}

// A rank that is well may wait for ever: whoever hangs is seen by the Deadline. A rank that failed
// may not, since its peers may wait inside a collective call for it.
void wait_for_peers(MPI_Request& request, const Failure* mine, double patience) {
  if (mine == nullptr) {
    check_mpi(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
  } else if (!wait_asleep(request, std::chrono::milliseconds(1),
                          std::chrono::duration<double>(patience))) {
    abort_job(mine->message);
  }
}

}  // namespace

void agree(const Comm& comm, std::exception_ptr failure, double patience) {
  Failure mine;
  if (failure) mine = describe(failure);

  const int my_vote = failure ? comm.rank() : INT_MAX;
  int lowest_failing = INT_MAX;
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Iallreduce(&my_vote, &lowest_failing, 1, MPI_INT, MPI_MIN, comm.get(), &request),
            "MPI_Iallreduce");
  wait_for_peers(request, failure ? &mine : nullptr, patience);
  if (lowest_failing == INT_MAX) return;

  // Rank 0 often fails for all of them (a missing file), so only other ranks are named.
  if (comm.rank() == lowest_failing && lowest_failing != 0) {
    mine.message = fmt::format("rank {} on host {}: {}", comm.rank(), host_name(), mine.message);
  }
  const auto status = static_cast<ExitStatus>(
      comm.broadcast(static_cast<std::uint64_t>(mine.status), lowest_failing));
  const auto message = comm.broadcast(mine.message, lowest_failing);
  if (status == ExitStatus::bad_input) throw InputError(message);
  throw IoError(message);
}

void agreed(const Comm& comm, const std::function<void()>& stage) {
  Attempt attempt;
  attempt.run(stage);
  agree(comm, attempt.failure());
}

}  // namespace slabmark
