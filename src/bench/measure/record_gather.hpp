#pragma once

#include <cstdint>

#include "bench/measure/clock.hpp"
#include "bench/measure/record.hpp"

namespace slabmark {

/// Reduces every rank's times of one trial; warm_up, round and position are left to the caller.
/// Collective. Complete on root, empty on the other ranks; root holds one number a rank at a time.
TrialRecord gather_trial(const Comm& comm, const RankTimes& times);

/// Summary over ranks of one number each, with the host of the rank that has the most. Collective;
/// empty on the other ranks than root.
RankSummary gather_summary(const Comm& comm, double value);

/// CellRecord::differences from every rank's Method::effective(). Collective; complete on root.
Json gather_differences(const Comm& comm, const Json& effective);

}  // namespace slabmark
