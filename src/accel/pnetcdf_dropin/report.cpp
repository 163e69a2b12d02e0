#include "accel/pnetcdf_dropin/report.hpp"

#include <cstdio>

#include <fmt/format.h>

namespace slabmark::dropin {

void Report::count_native(std::string_view reason) noexcept {
  for (NativeCalls& its : native_calls_) {
    if (its.calls > 0 && its.reason != reason) continue;
    its.reason = reason;
    ++its.calls;
    return;
  }
}

void Report::print(const Comm& comm, const std::string& path) const {
  std::array sums{put_requests, get_requests,     put_bytes,
                  get_bytes,    tally.file_calls, tally.messages};
  std::array most{seconds, plan_seconds, static_cast<double>(plan_bytes)};
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_UINT64_T,
                          MPI_SUM, comm.get()),
            "MPI_Allreduce");
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, most.data(), static_cast<int>(most.size()), MPI_DOUBLE,
                          MPI_MAX, comm.get()),
            "MPI_Allreduce");
  if (!comm.is_root()) return;
  std::string text = fmt::format(
      "slabmark: {}: rearranged {} calls, {} put requests of {} bytes, {} get requests of {} "
      "bytes, "
      "{:.4f} s. Plans: {} made in {:.4f} s, {} used again, {:.0f} bytes per rank at most; {} file "
      "calls, {} messages. Passed through:",
      path, waits, sums[0], sums[2], sums[1], sums[3], most[0], plans_made, most[1],
      plans_used_again, most[2], sums[4], sums[5]);
  if (native_calls_.front().calls == 0) text += " nothing";
  const char* separator = " ";
  for (const auto& [reason, calls] : native_calls_) {
    if (calls == 0) break;
    text += fmt::format("{}{} calls ({})", separator, calls, reason);
    separator = ", ";
  }
  std::fputs((text + "\n").c_str(), stderr);
}

}  // namespace slabmark::dropin
