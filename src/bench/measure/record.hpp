#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/measure/phase.hpp"
#include "bench/measure/statistics.hpp"
#include "bench/measure/stopping.hpp"
#include "core/json/json.hpp"

namespace slabmark {

/// Version of the record's layout. A field with a new meaning, or one that is gone, is a new
/// version; a further field is not.
inline constexpr std::uint64_t record_version = 1;

// record_terms.cpp explains each member once, for the documentation and reports.

/// The pattern of a cell, over all ranks and rounds.
struct PatternRecord {
  std::string name;
  std::map<std::string, std::string> settings;
  std::uint64_t datasets = 0;
  std::uint64_t rounds = 0;
  std::uint64_t bytes = 0;
  std::uint64_t requests_total = 0, requests_max = 0, requests_min = 0;
  std::uint64_t ranks = 0;
};

/// One phase of one trial.
struct PhaseRecord {
  double seconds = 0.0;
  RankSummary ranks;
  /// No less than all ranks together took, even where they could not run at the same time. It holds
  /// the agreement at the end of each part, so that such phases may add up to more than
  /// open-to-close.
  double until_all = 0.0;
};

/// One trial. The members up to `agreements` come from gather_trial().
struct TrialRecord {
  double open_to_close = 0.0;
  std::map<Phase, PhaseRecord> phases;
  RankSummary busy;
  RankSummary open_to_close_ranks;
  RankSummary transfer_ranks;
  std::map<Phase, double> slowest_split;
  std::map<std::string, RankSummary> spans;
  double agreements = 0.0;

  bool warm_up = false;
  std::uint64_t round = 0;
  std::uint64_t position = 0;

  double seconds(Phase phase) const;           ///< 0 for a phase that did not take place
  double span(const std::string& name) const;  ///< of the slowest rank; 0 if none entered it
  double transfer() const;
  double overhead() const;
};

/// Seconds over the trials, and the rate that follows from their median.
struct RatedSummary {
  TrialSummary seconds;
  std::optional<Rate> rate;
};

/// A cell's trials, warm-up excluded.
struct CellSummary {
  double seconds(Phase phase) const;  ///< median; 0 for a phase that did not take place

  std::map<Phase, TrialSummary> phases;
  RatedSummary transfer;
  RatedSummary open_to_close;
  TrialSummary overhead;
};

enum class Verified { yes, no, not_asked };

struct Verification {
  Verified state = Verified::not_asked;
  std::uint64_t elements = 0;
  std::string by;
  std::string mismatch;  ///< empty if there is none
};

/// The same bytes moved contiguously in the same run.
struct Bound {
  std::string method;
  std::uint64_t bytes = 0;
  double seconds = 0.0;
  double share = 0.0;
};

/// The outcome of one cell (pattern × method × settings): one line of a record file.
struct CellRecord {
  PatternRecord pattern;
  std::string method;
  std::string method_summary;
  std::string direction;
  std::string unsupported;  ///< empty: it was measured

  Json settings = Json::object();
  Json effective = Json::object();
  Json differences = Json::array();

  bool sync = false;
  std::string cache;  ///< empty for a write
  std::map<std::string, double> setup;
  std::map<std::string, RankSummary> memory;

  StoppingRule rule;
  std::optional<StopReason> stop;
  std::uint64_t seed = 0;
  std::uint64_t cells = 1;
  std::vector<TrialRecord> trials;
  std::optional<TrialRecord> once;
  CellSummary summary;

  Verification verified;
  std::vector<Bound> bounds;
  Json manifest = Json::object();
};

/// One number of each trial that is no warm-up: what a member of TrialRecord or a function says.
template <typename Number>
std::vector<double> each_trial(std::span<const TrialRecord> trials, Number number) {
  std::vector<double> values;
  for (const TrialRecord& trial : trials) {
    if (!trial.warm_up) values.push_back(std::invoke(number, trial));
  }
  return values;
}

/// Summary of the trials that are no warm-up; `bytes` is what one trial moves.
CellSummary summarise(std::span<const TrialRecord> trials, std::uint64_t bytes);

/// The seconds that the stopping rule looks at: open-to-close of the trials that are no warm-up.
std::vector<double> measured_seconds(std::span<const TrialRecord> trials);

/// Where `other`, the effective settings of rank `rank`, departs from those of the root, in the
/// form of CellRecord::differences; the value is null for what the rank lacks.
Json differing(const Json& root, const Json& other, std::uint64_t rank);

/// For members of records that may be absent: null for an empty text.
Json text_or_null(const std::string& text);

std::string_view name_of(Verified state);  ///< "yes", "no", "not asked"

/// Layout of docs/reference/records.md. Infinite numbers are written as null.
void to_json(Json& json, const CellRecord& record);

/// The members of a record and the phases, each with unit, description and hint, by group: what
/// documentation and reports say of them.
Json describe_terms();

}  // namespace slabmark
