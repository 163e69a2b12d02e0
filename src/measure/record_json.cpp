#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/error.hpp"
#include "measure/record.hpp"

// One pair of functions a struct: what the first writes, the second reads. docs/records.md
// describes the layout.

namespace slabmark {

namespace {

using nlohmann::json;

const json& member(const json& object, const char* name) {
  if (!object.is_object() || !object.contains(name)) {
    throw InputError(fmt::format(
        "The record has no member '{}': it is incomplete, or not a Slabmark record.", name));
  }
  return object[name];
}

template <typename T>
T get(const json& object, const char* name) {
  const json& value = member(object, name);
  try {
    return value.get<T>();
  } catch (const json::exception&) {
    throw InputError(fmt::format("The record's member '{}' has a value of the wrong type, {}.",
                                 name, value.dump(-1, ' ', false, json::error_handler_t::replace)));
  }
}

// JSON knows no infinity. null stands for it, in a member whose meaning allows no other absence.
json finite_or_null(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }

double number_or_infinite(const json& object, const char* name) {
  if (member(object, name).is_null()) return std::numeric_limits<double>::infinity();
  return get<double>(object, name);
}

json text_or_null(const std::string& text) { return text.empty() ? json(nullptr) : json(text); }

std::string text_or_empty(const json& object, const char* name) {
  return member(object, name).is_null() ? std::string() : get<std::string>(object, name);
}

Phase parse_phase(const std::string& name) {
  for (const Phase phase : all_phases) {
    if (name == name_of(phase)) return phase;
  }
  throw InputError(
      fmt::format("The record names a phase '{}', which Slabmark does not have.", name));
}

Verified parse_verified(const std::string& name) {
  for (const Verified state : {Verified::yes, Verified::no, Verified::not_asked}) {
    if (name == name_of(state)) return state;
  }
  throw InputError(fmt::format(
      "The record's member 'verified' says '{}', but it must be yes, no or not asked.", name));
}

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

void parse(const json& from, RankSummary& s) {
  s.ranks = get<std::uint64_t>(from, "ranks");
  s.min = get<double>(from, "min");
  s.median = get<double>(from, "median");
  s.mean = get<double>(from, "mean");
  s.max = get<double>(from, "max");
  s.variance = get<double>(from, "variance");
  s.slowest = get<std::uint64_t>(from, "slowest_rank");
  s.slowest_host = text_or_empty(from, "slowest_host");
  s.imbalance = get<double>(from, "imbalance");
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

void parse(const json& from, TrialSummary& s) {
  s.trials = get<std::uint64_t>(from, "trials");
  s.min = get<double>(from, "min");
  s.median = get<double>(from, "median");
  s.mean = get<double>(from, "mean");
  s.max = get<double>(from, "max");
  s.low = get<double>(from, "low");
  s.high = get<double>(from, "high");
  s.is_range = get<bool>(from, "is_range");
  s.coverage = get<double>(from, "coverage");
  s.half_width = number_or_infinite(from, "half_width");
  s.variation = get<double>(from, "variation");
  s.outliers = get<std::vector<std::uint64_t>>(from, "outliers");
}

json written(const PhaseRecord& r) {
  return {{"seconds", r.seconds}, {"ranks", written(r.ranks)}, {"until_all", r.until_all}};
}

void parse(const json& from, PhaseRecord& r) {
  r.seconds = get<double>(from, "seconds");
  parse(member(from, "ranks"), r.ranks);
  if (from.contains("until_all")) r.until_all = get<double>(from, "until_all");
}

void parse(const json& from, double& value) {
  if (!from.is_number()) {
    throw InputError(fmt::format("The record holds {} where a number belongs.", from.dump()));
  }
  value = from.get<double>();
}

template <typename Value>
json written(const std::map<Phase, Value>& by_phase) {
  json object = json::object();
  for (const auto& [phase, value] : by_phase) object[std::string(name_of(phase))] = written(value);
  return object;
}

template <typename Value>
void parse(const json& from, std::map<Phase, Value>& by_phase) {
  for (const auto& [name, value] : from.items()) parse(value, by_phase[parse_phase(name)]);
}

template <typename Value>
json written(const std::map<std::string, Value>& by_name) {
  json object = json::object();
  for (const auto& [name, value] : by_name) object[name] = written(value);
  return object;
}

template <typename Value>
void parse(const json& from, std::map<std::string, Value>& by_name) {
  for (const auto& [name, value] : from.items()) parse(value, by_name[name]);
}

json written(const RatedSummary& s) {
  json rate = nullptr;
  if (s.rate) rate = {{"median", s.rate->median}, {"low", s.rate->low}, {"high", s.rate->high}};
  return {{"seconds", written(s.seconds)}, {"bytes_per_second", rate}};
}

void parse(const json& from, RatedSummary& s) {
  parse(member(from, "seconds"), s.seconds);
  const json& rate = member(from, "bytes_per_second");
  if (rate.is_null()) return;
  s.rate = Rate{.median = get<double>(rate, "median"),
                .low = get<double>(rate, "low"),
                .high = get<double>(rate, "high")};
}

json written(const CellSummary& s) {
  return {{"phases", written(s.phases)},
          {"transfer", written(s.transfer)},
          {"open_to_close", written(s.open_to_close)},
          {"overhead", written(s.overhead)}};
}

void parse(const json& from, CellSummary& s) {
  parse(member(from, "phases"), s.phases);
  parse(member(from, "transfer"), s.transfer);
  parse(member(from, "open_to_close"), s.open_to_close);
  parse(member(from, "overhead"), s.overhead);
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

void parse(const json& from, PatternRecord& p) {
  p.name = get<std::string>(from, "name");
  p.settings = get<std::map<std::string, std::string>>(from, "settings");
  p.datasets = get<std::uint64_t>(from, "datasets");
  p.rounds = get<std::uint64_t>(from, "rounds");
  p.bytes = get<std::uint64_t>(from, "bytes");
  p.requests_total = get<std::uint64_t>(member(from, "requests"), "total");
  p.requests_max = get<std::uint64_t>(member(from, "requests"), "max");
  p.requests_min = get<std::uint64_t>(member(from, "requests"), "min");
  p.ranks = get<std::uint64_t>(from, "ranks");
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

void parse(const json& from, TrialRecord& t) {
  t.warm_up = get<bool>(from, "warm_up");
  t.round = get<std::uint64_t>(from, "round");
  t.position = get<std::uint64_t>(from, "position");
  t.open_to_close = get<double>(from, "open_to_close");
  parse(member(from, "phases"), t.phases);
  parse(member(from, "busy"), t.busy);
  // Records of earlier builds lack these three.
  if (from.contains("agreements")) t.agreements = get<double>(from, "agreements");
  if (from.contains("open_to_close_ranks")) {
    parse(from["open_to_close_ranks"], t.open_to_close_ranks);
  }
  if (from.contains("transfer_ranks")) parse(from["transfer_ranks"], t.transfer_ranks);
  parse(member(from, "slowest_split"), t.slowest_split);
  parse(member(from, "spans"), t.spans);
}

json written(const StoppingRule& rule, std::optional<StopReason> reason) {
  return {{"min_trials", rule.min_trials},
          {"max_trials", rule.max_trials},
          {"precision", rule.precision},
          {"time_budget", finite_or_null(rule.time_budget)},
          {"reason", reason ? json(std::string(name_of(*reason))) : json(nullptr)}};
}

void parse(const json& from, StoppingRule& rule, std::optional<StopReason>& reason) {
  rule.min_trials = get<std::uint64_t>(from, "min_trials");
  rule.max_trials = get<std::uint64_t>(from, "max_trials");
  rule.precision = get<double>(from, "precision");
  rule.time_budget = number_or_infinite(from, "time_budget");
  if (!member(from, "reason").is_null()) {
    reason = parse_stop_reason(get<std::string>(from, "reason"));
  }
}

json written(const Verification& v) {
  return {{"state", std::string(name_of(v.state))},
          {"elements", v.elements},
          {"by", text_or_null(v.by)},
          {"mismatch", text_or_null(v.mismatch)}};
}

void parse(const json& from, Verification& v) {
  v.state = parse_verified(get<std::string>(from, "state"));
  v.elements = get<std::uint64_t>(from, "elements");
  v.by = text_or_empty(from, "by");
  v.mismatch = text_or_empty(from, "mismatch");
}

json written(const Bound& b) {
  return {{"method", b.method}, {"bytes", b.bytes}, {"seconds", b.seconds}, {"share", b.share}};
}

void parse(const json& from, Bound& b) {
  b.method = get<std::string>(from, "method");
  b.bytes = get<std::uint64_t>(from, "bytes");
  b.seconds = get<double>(from, "seconds");
  b.share = get<double>(from, "share");
}

template <typename Item>
json written(const std::vector<Item>& items) {
  json array = json::array();
  for (const Item& item : items) array.push_back(written(item));
  return array;
}

template <typename Item>
void parse(const json& from, std::vector<Item>& items) {
  for (const json& item : from) parse(item, items.emplace_back());
}

void check_version(const json& from) {
  const auto version = get<std::uint64_t>(from, "slabmark_record");
  if (version == record_version) return;
  throw InputError(fmt::format(
      "The record is of version {}, but this Slabmark reads version {}: read it with the "
      "Slabmark that wrote it.",
      version, record_version));
}

}  // namespace

void to_json(json& to, const CellRecord& record) {
  to = {{"slabmark_record", record_version},
        {"pattern", written(record.pattern)},
        {"method", record.method},
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
        {"summary", written(record.summary)},
        {"verified", written(record.verified)},
        {"bounds", written(record.bounds)},
        {"manifest", record.manifest}};
}

void from_json(const json& from, CellRecord& record) {
  check_version(from);
  record = CellRecord{};
  parse(member(from, "pattern"), record.pattern);
  record.method = get<std::string>(from, "method");
  record.direction = get<std::string>(from, "direction");
  record.unsupported = text_or_empty(from, "unsupported");
  record.settings = member(from, "settings");
  record.effective = member(from, "effective");
  record.differences = member(from, "differences");
  record.sync = get<bool>(from, "sync");
  record.cache = text_or_empty(from, "cache");
  parse(member(from, "setup"), record.setup);
  parse(member(from, "memory"), record.memory);
  parse(member(from, "stopping"), record.rule, record.stop);
  record.seed = get<std::uint64_t>(member(from, "order"), "seed");
  record.cells = get<std::uint64_t>(member(from, "order"), "cells");
  parse(member(from, "trials"), record.trials);
  parse(member(from, "summary"), record.summary);
  parse(member(from, "verified"), record.verified);
  parse(member(from, "bounds"), record.bounds);
  record.manifest = member(from, "manifest");
}

}  // namespace slabmark
