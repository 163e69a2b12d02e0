#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "exchange/rearranger.hpp"
#include "parallel/comm.hpp"

namespace slabmark::dropin {

/// What was moved by plan and what natively, of one file, on this rank.
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

  std::map<std::string, std::uint64_t> native_calls;  ///< collective ones, by reason

  /// Collective: rank 0 prints it to stderr.
  void print(const Comm& comm, const std::string& path) const;
};

}  // namespace slabmark::dropin
