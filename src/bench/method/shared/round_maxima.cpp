#include "bench/method/shared/round_maxima.hpp"

#include <fmt/format.h>

#include "core/base/error.hpp"

namespace slabmark {

RoundMaxima::RoundMaxima(const Comm& comm, const Pattern& pattern, const Measure& measure) {
  for (std::uint64_t round = 0; round < pattern.rounds; ++round) {
    first_.push_back(maxima_.size());
    measure(pattern.transfers(round), maxima_);
  }
  // A reduction of unequal lengths would crash or hang inside MPI.
  const auto count = static_cast<std::uint64_t>(maxima_.size());
  if (comm.max(count) != comm.min(count)) {
    throw IoError(
        fmt::format("The ranks do not have the same transfers in pattern '{}': rank {} has {} in "
                    "all; give ranks "
                    "without data empty selections.",
                    pattern.name, comm.rank(), count));
  }
  comm.max(std::span(maxima_));
}

bool some_rank_has_less(const Comm& comm, const Pattern& pattern,
                        const RoundMaxima::Measure& measure) {
  const RoundMaxima most(comm, pattern, measure);
  bool has_less = false;
  for (std::uint64_t round = 0; round < pattern.rounds; ++round) {
    std::vector<std::uint64_t> own;
    measure(pattern.transfers(round), own);
    for (std::size_t i = 0; i < own.size(); ++i) has_less = has_less || own[i] < most.at(round, i);
  }
  return comm.any(has_less);
}

}  // namespace slabmark
