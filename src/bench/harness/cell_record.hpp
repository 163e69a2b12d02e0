#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "bench/harness/cell.hpp"
#include "bench/measure/record.hpp"
#include "bench/pattern/content.hpp"
#include "bench/pattern/pattern.hpp"
#include "core/json/json.hpp"
#include "core/parallel/comm.hpp"

namespace slabmark {

/// Collective. The sums over the ranks' parts of a pattern in one trial.
PatternRecord describe_pattern(const Comm& comm, const Pattern& pattern);

/// Collective. The record of a cell before its first trial: what it moves, the settings asked for,
/// and in `unsupported` the reason of the lowest rank whose pattern the method cannot move.
/// `cells` is the number of cells that take turns.
CellRecord begin_record(const Comm& comm, const Cell& cell, const RunOptions& options,
                        std::size_t cells);

/// Collective. Enters what the method says that its library did (Method::effective()), and where
/// other ranks' libraries did otherwise.
void enter_effective(const Comm& comm, CellRecord& record, const Json& effective);

/// Adds what was found at a further place, if anything: the first element stands, counts add up.
void add_mismatch(std::optional<Mismatch>& first, const std::optional<Mismatch>& found);

/// Collective. One sentence about what all ranks found: the first wrong element of the lowest rank
/// that has one, and how many there are on all ranks. Empty if all is right.
std::string describe_agreed(const Comm& comm, std::optional<Mismatch> mine, const Pattern& pattern);

}  // namespace slabmark
