#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "bench/measure/record.hpp"
#include "programs/dwrite_eval/options.hpp"

namespace slabmark::dwrite_eval {

/// One way with what was measured.
struct Result {
  const Way* way = nullptr;
  const CellRecord* record = nullptr;  ///< null where the way is missing
};

/// The parts of the report.
struct ReportInput {
  RankSummary total;  ///< seconds from before the map was read until all ways were done
  std::span<const Result> results;
  std::map<std::string, double> setup;  ///< of the map
  std::uint64_t max_requests = 0;       ///< of one variable on the busiest rank
  std::string mpi_io;
  bool verbose = false;
};

/// The original's groups of four lines, see docs/reference/dwrite_eval.md. Of several trials the
/// one with the median end to end time is shown.
std::string format_report(const ReportInput& input);

/// The trial that is shown: the one with the median open-to-close, of two middle ones the faster;
/// the warm-up does not count. There must be one.
const TrialRecord& median_trial(const CellRecord& record);

}  // namespace slabmark::dwrite_eval
