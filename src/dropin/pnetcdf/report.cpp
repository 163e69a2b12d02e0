#include "dropin/pnetcdf/report.hpp"

#include <cstdio>

#include <fmt/format.h>

namespace slabmark::dropin {

void Report::print(const Comm& comm, const std::string& path) const {
  const std::uint64_t sums[] = {comm.sum(put_requests),     comm.sum(get_requests),
                                comm.sum(put_bytes),        comm.sum(get_bytes),
                                comm.sum(tally.file_calls), comm.sum(tally.messages)};
  const double slowest = comm.max(seconds);
  const double slowest_plan = comm.max(plan_seconds);
  const std::uint64_t most_plan_bytes = comm.max(plan_bytes);
  if (!comm.is_root()) return;
  std::string text = fmt::format(
      "slabmark: {}: by plan {} calls, {} put requests of {} bytes, {} get requests of {} bytes, "
      "{:.4f} s; plans: {} made in {:.4f} s, {} used again, {} bytes a rank at most; {} file "
      "calls, "
      "{} messages; natively",
      path, waits, sums[0], sums[2], sums[1], sums[3], slowest, plans_made, slowest_plan,
      plans_used_again, most_plan_bytes, sums[4], sums[5]);
  if (native_calls.empty()) text += " nothing";
  const char* separator = " ";
  for (const auto& [reason, calls] : native_calls) {
    text += fmt::format("{}{} calls ({})", separator, calls, reason);
    separator = ", ";
  }
  std::fprintf(stderr, "%s\n", text.c_str());
}

}  // namespace slabmark::dropin
