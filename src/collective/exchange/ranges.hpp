#pragma once

#include <cstdint>
#include <string>

#include "core/base/error.hpp"
#include "core/geometry/run.hpp"
#include "core/parallel/comm.hpp"

namespace slabmark {

/// Collective. Every rank brings sorted runs of the same array of `total` elements; rank r gets
/// those that fall into equal_range(total, r, size), cut at its bounds, from all ranks, sorted by
/// offset. Runs that touch may come back merged (see sort_runs); overlapping runs of different
/// ranks stay, so that find_overlap() sees them. Memory follows what comes and goes, plus a few
/// words a rank. Every rank throws InputError if a run of any of them leaves the array.
RunList runs_in_my_range(const Comm& comm, const RunList& mine, std::uint64_t total);

/// The error to throw where ranks that write overlap in an element of an array.
InputError written_by_several(std::uint64_t element, const std::string& array);

}  // namespace slabmark
