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

#include <nlohmann/json.hpp>

#include "bench/measure/phase.hpp"
#include "bench/measure/statistics.hpp"
#include "bench/measure/stopping.hpp"

namespace slabmark {

/// Version of the record's layout. A field with a new meaning, or one that is gone, is a new
/// version; a further field is not.
inline constexpr std::uint64_t record_version = 1;

/// The pattern of a cell, over all ranks and rounds.
struct PatternRecord {
  std::string name;
  std::map<std::string, std::string> settings;
  std::uint64_t datasets = 0;
  std::uint64_t rounds = 0;
  std::uint64_t bytes = 0;           ///< moved by all ranks in all rounds
  std::uint64_t requests_total = 0;  ///< hyperslabs of all ranks in all rounds
  std::uint64_t requests_max = 0;    ///< of the rank that has the most
  std::uint64_t requests_min = 0;    ///< of the rank that has the fewest
  std::uint64_t ranks = 0;
};

/// One phase of one trial.
struct PhaseRecord {
  double seconds = 0.0;  ///< from the common start to the slowest rank's end, over all its parts
  RankSummary ranks;     ///< the ranks' own seconds
  /// Longest time of a rank from its start until it knew that all had ended, over all its parts:
  /// no less than all ranks together took, even where they could not run at the same time. It holds
  /// the agreement at the end of each part, so that such phases may add up to more than
  /// open-to-close.
  double until_all = 0.0;
};

/// One trial. The members up to `agreements` come from gather_trial().
struct TrialRecord {
  double open_to_close = 0.0;           ///< seconds of the slowest rank, without the pauses
  std::map<Phase, PhaseRecord> phases;  ///< only phases in which some rank spent time
  RankSummary busy;                     ///< over ranks: sum of the rank's own phases, in seconds
  RankSummary open_to_close_ranks;      ///< the ranks' own seconds from create to close
  RankSummary transfer_ranks;           ///< over ranks: the rank's own prepare + post + flush
  std::map<Phase, double>
      slowest_split;  ///< own seconds by phase of the rank that `busy` calls slowest
  std::map<std::string, RankSummary> spans;  ///< seconds; 0 for a rank that did not enter the span
  /// Seconds in which no rank was inside a phase: from the end of each part's last rank until a
  /// rank knew that all had ended. What Slabmark adds.
  double agreements = 0.0;

  bool warm_up = false;
  std::uint64_t round = 0;     ///< of the interleaving; round 0 is the warm-up
  std::uint64_t position = 0;  ///< turn of the cell within that round, from 0

  double seconds(Phase phase) const;           ///< 0 for a phase that did not take place
  double span(const std::string& name) const;  ///< of the slowest rank; 0 if none entered it
  double transfer() const;                     ///< see transfer_of()
  double overhead() const;                     ///< open_to_close minus the sum of the phases
};

/// Seconds over the trials, and the rate that follows from their median.
struct RatedSummary {
  TrialSummary seconds;
  std::optional<Rate> rate;  ///< bytes per second
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
  std::uint64_t elements = 0;  ///< checked, over all ranks
  std::string by;              ///< "plain reader, each rank the next rank's part"
  std::string mismatch;        ///< first wrong element, one sentence; empty if there is none
};

/// The same bytes moved contiguously in the same run.
struct Bound {
  std::string method;  ///< "posix"
  std::uint64_t bytes = 0;
  double seconds = 0.0;  ///< median open-to-close
  double share = 0.0;    ///< seconds of the bound / median open-to-close of the cell
};

/// The outcome of one cell (pattern × method × settings): one line of a record file.
struct CellRecord {
  PatternRecord pattern;
  std::string method;
  std::string method_summary;  ///< what it does, in a line
  std::string direction;       ///< "write" or "read"
  /// Why the method cannot move this pattern; there are no trials then. Empty: it was measured.
  std::string unsupported;

  nlohmann::json settings = nlohmann::json::object();   ///< as asked for, defaults filled in
  nlohmann::json effective = nlohmann::json::object();  ///< what rank 0's library did
  /// What other ranks report differently, the lowest such rank for each path (a JSON pointer into
  /// `effective`): [{"path": "/hints/cb_nodes", "rank": 3, "value": "2"}].
  nlohmann::json differences = nlohmann::json::array();

  bool sync = false;  ///< whether the files were made durable inside open-to-close
  std::string cache;  ///< of a read: "cold", "warm"; empty for a write
  std::map<std::string, double> setup;        ///< seconds before the trials: "map_read", "sort"
  std::map<std::string, RankSummary> memory;  ///< bytes over ranks: "peak_resident", "buffers"

  StoppingRule rule;
  std::optional<StopReason> stop;
  std::uint64_t seed = 0;   ///< of the interleaving
  std::uint64_t cells = 1;  ///< number of cells that took turns
  std::vector<TrialRecord> trials;
  /// Of a file that stays open over the trials: what was done but once, to make and close it.
  std::optional<TrialRecord> once;
  CellSummary summary;

  Verification verified;
  std::vector<Bound> bounds;
  nlohmann::json manifest = nlohmann::json::object();
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
nlohmann::json differing(const nlohmann::json& root, const nlohmann::json& other,
                         std::uint64_t rank);

/// For members of records that may be absent: null for an empty text.
nlohmann::json text_or_null(const std::string& text);

std::string_view name_of(Verified state);  ///< "yes", "no", "not asked"

/// Layout of docs/records.md. Infinite numbers are written as null.
void to_json(nlohmann::json& json, const CellRecord& record);

}  // namespace slabmark
