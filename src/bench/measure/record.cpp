#include "bench/measure/record.hpp"

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "core/base/words.hpp"

namespace slabmark {

double TrialRecord::seconds(Phase phase) const {
  const auto found = phases.find(phase);
  return found == phases.end() ? 0.0 : found->second.seconds;
}

double TrialRecord::span(const std::string& name) const {
  const auto found = spans.find(name);
  return found == spans.end() ? 0.0 : found->second.max;
}

double TrialRecord::transfer() const {
  return transfer_of([this](Phase phase) { return seconds(phase); });
}

double TrialRecord::overhead() const {
  double sum = 0.0;
  for (const auto& [phase, record] : phases) sum += record.seconds;
  return open_to_close - sum;
}

std::string_view name_of(Verified state) {
  static constexpr Word<Verified> states[] = {
      {"yes", Verified::yes}, {"no", Verified::no}, {"not asked", Verified::not_asked}};
  return word_for(state, states);
}

namespace {

std::set<Phase> phases_of(std::span<const TrialRecord> trials) {
  std::set<Phase> phases;
  for (const TrialRecord& trial : trials) {
    if (trial.warm_up) continue;
    for (const auto& [phase, record] : trial.phases) phases.insert(phase);
  }
  return phases;
}

RatedSummary rated(std::span<const double> seconds, std::uint64_t bytes) {
  RatedSummary result;
  result.seconds = summarise_trials(seconds);
  result.rate = rate_of(bytes, result.seconds);
  return result;
}

/// Values that hold no others, by their JSON pointers.
using Leaves = std::map<std::string, Json>;

/// A key within a JSON pointer.
std::string escaped(std::string_view key) {
  std::string text;
  for (const char c : key) text += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  return text;
}

void add_leaves(const Json& json, const std::string& path, Leaves& leaves) {
  if (json.empty()) {
    leaves[path] = nullptr;
  } else if (json.is_object()) {
    for (const auto& [key, value] : json.items())
      add_leaves(value, path + '/' + escaped(key), leaves);
  } else if (json.is_array()) {
    for (std::size_t i = 0; i < json.size(); ++i) {
      add_leaves(json[i], path + '/' + std::to_string(i), leaves);
    }
  } else {
    leaves[path] = json;
  }
}

Leaves leaves_of(const Json& json) {
  Leaves leaves;
  add_leaves(json, "", leaves);
  return leaves;
}

}  // namespace

double CellSummary::seconds(Phase phase) const {
  const auto found = phases.find(phase);
  return found == phases.end() ? 0.0 : found->second.median;
}

CellSummary summarise(std::span<const TrialRecord> trials, std::uint64_t bytes) {
  CellSummary summary;
  for (const Phase phase : phases_of(trials)) {
    summary.phases[phase] =
        summarise_trials(each_trial(trials, [&](const auto& t) { return t.seconds(phase); }));
  }
  summary.transfer = rated(each_trial(trials, &TrialRecord::transfer), bytes);
  summary.open_to_close = rated(measured_seconds(trials), bytes);
  summary.overhead = summarise_trials(each_trial(trials, &TrialRecord::overhead));
  return summary;
}

std::vector<double> measured_seconds(std::span<const TrialRecord> trials) {
  return each_trial(trials, &TrialRecord::open_to_close);
}

Json differing(const Json& root, const Json& other, std::uint64_t rank) {
  const Leaves expected = leaves_of(root);
  const Leaves found = leaves_of(other);
  Json differences = Json::array();
  const auto note = [&](const std::string& path, const Json& value) {
    differences.push_back({{"path", path}, {"rank", rank}, {"value", value}});
  };
  for (const auto& [path, value] : found) {
    const auto same = expected.find(path);
    if (same == expected.end() || same->second != value) note(path, value);
  }
  for (const auto& [path, value] : expected) {
    if (!found.contains(path)) note(path, nullptr);
  }
  return differences;
}

}  // namespace slabmark
