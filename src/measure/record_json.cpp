#include <cmath>

#include "measure/record.hpp"

// One function a struct; docs/records.md describes the layout.

namespace slabmark {

namespace {

using nlohmann::json;

// JSON knows no infinity. null stands for it, in a member whose meaning allows no other absence.
json finite_or_null(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }

json text_or_null(const std::string& text) { return text.empty() ? json(nullptr) : json(text); }

json written(double value) { return value; }

json written(const RankSummary& s) {
  return {{"ranks", s.ranks},
          {"min", s.min},
          {"median", s.median},
          {"mean", s.mean},
          {"max", s.max},
          {"variance", s.variance},
          {"slowest_rank", s.slowest},
          {"slowest_host", text_or_null(s.slowest_host)},
          {"imbalance", s.imbalance}};
}

json written(const TrialSummary& s) {
  return {{"trials", s.trials},
          {"min", s.min},
          {"median", s.median},
          {"mean", s.mean},
          {"max", s.max},
          {"low", s.low},
          {"high", s.high},
          {"is_range", s.is_range},
          {"coverage", s.coverage},
          {"half_width", finite_or_null(s.half_width)},
          {"variation", s.variation},
          {"outliers", s.outliers}};
}

json written(const PhaseRecord& r) {
  return {{"seconds", r.seconds}, {"ranks", written(r.ranks)}, {"until_all", r.until_all}};
}

template <typename Value>
json written(const std::map<Phase, Value>& by_phase) {
  json object = json::object();
  for (const auto& [phase, value] : by_phase) object[std::string(name_of(phase))] = written(value);
  return object;
}

template <typename Value>
json written(const std::map<std::string, Value>& by_name) {
  json object = json::object();
  for (const auto& [name, value] : by_name) object[name] = written(value);
  return object;
}

json written(const RatedSummary& s) {
  json rate = nullptr;
  if (s.rate) rate = {{"median", s.rate->median}, {"low", s.rate->low}, {"high", s.rate->high}};
  return {{"seconds", written(s.seconds)}, {"bytes_per_second", rate}};
}

json written(const CellSummary& s) {
  return {{"phases", written(s.phases)},
          {"transfer", written(s.transfer)},
          {"open_to_close", written(s.open_to_close)},
          {"overhead", written(s.overhead)}};
}

json written(const PatternRecord& p) {
  return {
      {"name", p.name},
      {"settings", p.settings},
      {"datasets", p.datasets},
      {"rounds", p.rounds},
      {"bytes", p.bytes},
      {"requests", {{"total", p.requests_total}, {"max", p.requests_max}, {"min", p.requests_min}}},
      {"ranks", p.ranks}};
}

// transfer and overhead follow from the phases; they are written for readers other than this one.
json written(const TrialRecord& t) {
  return {{"warm_up", t.warm_up},
          {"round", t.round},
          {"position", t.position},
          {"open_to_close", t.open_to_close},
          {"transfer", t.transfer()},
          {"overhead", t.overhead()},
          {"agreements", t.agreements},
          {"phases", written(t.phases)},
          {"busy", written(t.busy)},
          {"open_to_close_ranks", written(t.open_to_close_ranks)},
          {"transfer_ranks", written(t.transfer_ranks)},
          {"slowest_split", written(t.slowest_split)},
          {"spans", written(t.spans)}};
}

json written(const StoppingRule& rule, std::optional<StopReason> reason) {
  return {{"min_trials", rule.min_trials},
          {"max_trials", rule.max_trials},
          {"precision", rule.precision},
          {"time_budget", finite_or_null(rule.time_budget)},
          {"reason", reason ? json(std::string(name_of(*reason))) : json(nullptr)}};
}

json written(const Verification& v) {
  return {{"state", std::string(name_of(v.state))},
          {"elements", v.elements},
          {"by", text_or_null(v.by)},
          {"mismatch", text_or_null(v.mismatch)}};
}

json written(const Bound& b) {
  return {{"method", b.method}, {"bytes", b.bytes}, {"seconds", b.seconds}, {"share", b.share}};
}

template <typename Item>
json written(const std::vector<Item>& items) {
  json array = json::array();
  for (const Item& item : items) array.push_back(written(item));
  return array;
}

}  // namespace

void to_json(json& to, const CellRecord& record) {
  to = {{"slabmark_record", record_version},
        {"pattern", written(record.pattern)},
        {"method", record.method},
        {"method_summary", record.method_summary},
        {"direction", record.direction},
        {"unsupported", text_or_null(record.unsupported)},
        {"settings", record.settings},
        {"effective", record.effective},
        {"differences", record.differences},
        {"sync", record.sync},
        {"cache", text_or_null(record.cache)},
        {"setup", written(record.setup)},
        {"memory", written(record.memory)},
        {"stopping", written(record.rule, record.stop)},
        {"order", {{"seed", record.seed}, {"cells", record.cells}}},
        {"trials", written(record.trials)},
        {"once", record.once ? written(*record.once) : json(nullptr)},
        {"summary", written(record.summary)},
        {"verified", written(record.verified)},
        {"bounds", written(record.bounds)},
        {"manifest", record.manifest}};
}

}  // namespace slabmark
