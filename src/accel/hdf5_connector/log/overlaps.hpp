#pragma once

#include <span>
#include <vector>

#include "accel/hdf5_connector/log/log_dataset.hpp"
#include "collective/exchange/last_writer.hpp"

namespace slabmark::slablog {

/// Where what a rank has pending of a dataset begins and ends, and the calls that wrote it.
struct PendingBounds {
  std::uint64_t begin, end;
  std::uint32_t first_call, last_call;
};
PendingBounds pending_bounds(LogDataset& dataset);

/// Collective. True if ranks may have the same elements pending. `mine`: datasets of this rank with
/// something pending. Where datasets were written alike, one of them is looked at.
bool ranks_overlap(const Comm& comm, std::span<LogDataset* const> mine);

/// Collective. Of elements that several ranks have pending, leaves each to the rank that wrote it
/// last: the others have it pending no more. `mine`: datasets of this rank with something pending.
/// `calls`: the order of each call that their runs name, ascending.
void resolve_overlaps(const Comm& comm, std::span<LogDataset* const> mine,
                      std::span<const WriteOrder> calls);

}  // namespace slabmark::slablog
