#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "collective/exchange/rearranger.hpp"
#include "core/parallel/comm.hpp"

namespace slabmark::dropin {

/// Counts of one file on this rank: calls that moved data by plan, and calls that PnetCDF made.
struct Report {
  bool wanted = false;

  std::uint64_t waits = 0;  ///< collective calls by plan
  std::uint64_t put_requests = 0, get_requests = 0;
  std::uint64_t put_bytes = 0, get_bytes = 0;
  std::uint64_t plans_made = 0, plans_used_again = 0;
  std::uint64_t plan_bytes = 0;  ///< most that one held
  double seconds = 0;            ///< in calls by plan
  double plan_seconds = 0;       ///< of these, making plans
  Rearranger::Tally tally;

  /// Counts a collective call that PnetCDF makes. All ranks are in it, so none may throw.
  void count_native(std::string_view reason) noexcept;

  /// Collective: rank 0 prints it to stderr.
  void print(const Comm& comm, const std::string& path) const;

 private:
  struct NativeCalls {
    std::string_view reason;
    std::uint64_t calls = 0;
  };
  std::array<NativeCalls, 8> native_calls_;  ///< more reasons there are not
};

}  // namespace slabmark::dropin
