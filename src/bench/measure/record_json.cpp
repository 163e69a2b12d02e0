#include "bench/measure/record.hpp"

// One function a struct; docs/records.md describes the layout. What is infinite JSON knows as null,
// which is what dump() makes of it.

namespace slabmark {

using nlohmann::json;

/// The function of a struct whose members are called the same in the record: half of
/// NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE, since nothing in C++ reads records.
#define SLABMARK_TO_JSON(Type, ...)                                          \
  static void to_json(json& nlohmann_json_j, const Type& nlohmann_json_t) {  \
    NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(NLOHMANN_JSON_TO, __VA_ARGS__)) \
  }

json text_or_null(const std::string& text) { return text.empty() ? json(nullptr) : json(text); }

static void to_json(json& to, const RankSummary& s) {
  to = {{"ranks", s.ranks},
        {"min", s.min},
        {"median", s.median},
        {"mean", s.mean},
        {"max", s.max},
        {"variance", s.variance},
        {"slowest_rank", s.slowest},
        {"slowest_host", text_or_null(s.slowest_host)},
        {"imbalance", s.imbalance}};
}

SLABMARK_TO_JSON(TrialSummary, trials, min, median, mean, max, low, high, is_range, coverage,
                 half_width, variation, outliers)
SLABMARK_TO_JSON(Rate, median, low, high)
SLABMARK_TO_JSON(PhaseRecord, seconds, ranks, until_all)
SLABMARK_TO_JSON(Bound, method, bytes, seconds, share)

template <typename Value>
static void to_json(json& to, const std::map<Phase, Value>& by_phase) {
  to = json::object();
  for (const auto& [phase, value] : by_phase) to[std::string(name_of(phase))] = value;
}

static void to_json(json& to, const RatedSummary& s) {
  to = {{"seconds", s.seconds}, {"bytes_per_second", s.rate ? json(*s.rate) : json(nullptr)}};
}

SLABMARK_TO_JSON(CellSummary, phases, transfer, open_to_close, overhead)

static void to_json(json& to, const PatternRecord& p) {
  to = {
      {"name", p.name},
      {"settings", p.settings},
      {"datasets", p.datasets},
      {"rounds", p.rounds},
      {"bytes", p.bytes},
      {"requests", {{"total", p.requests_total}, {"max", p.requests_max}, {"min", p.requests_min}}},
      {"ranks", p.ranks}};
}

// transfer and overhead follow from the phases; they are written for readers.
static void to_json(json& to, const TrialRecord& t) {
  to = {{"warm_up", t.warm_up},
        {"round", t.round},
        {"position", t.position},
        {"open_to_close", t.open_to_close},
        {"transfer", t.transfer()},
        {"overhead", t.overhead()},
        {"agreements", t.agreements},
        {"phases", t.phases},
        {"busy", t.busy},
        {"open_to_close_ranks", t.open_to_close_ranks},
        {"transfer_ranks", t.transfer_ranks},
        {"slowest_split", t.slowest_split},
        {"spans", t.spans}};
}

SLABMARK_TO_JSON(StoppingRule, min_trials, max_trials, precision, time_budget)

static void to_json(json& to, const Verification& v) {
  to = {{"state", std::string(name_of(v.state))},
        {"elements", v.elements},
        {"by", text_or_null(v.by)},
        {"mismatch", text_or_null(v.mismatch)}};
}

void to_json(json& to, const CellRecord& record) {
  json stopping = record.rule;
  stopping["reason"] = record.stop ? json(std::string(name_of(*record.stop))) : json(nullptr);
  to = {{"slabmark_record", record_version},
        {"pattern", record.pattern},
        {"method", record.method},
        {"method_summary", record.method_summary},
        {"direction", record.direction},
        {"unsupported", text_or_null(record.unsupported)},
        {"settings", record.settings},
        {"effective", record.effective},
        {"differences", record.differences},
        {"sync", record.sync},
        {"cache", text_or_null(record.cache)},
        {"setup", record.setup},
        {"memory", record.memory},
        {"stopping", stopping},
        {"order", {{"seed", record.seed}, {"cells", record.cells}}},
        {"trials", record.trials},
        {"once", record.once ? json(*record.once) : json(nullptr)},
        {"summary", record.summary},
        {"verified", record.verified},
        {"bounds", record.bounds},
        {"manifest", record.manifest}};
}

}  // namespace slabmark
