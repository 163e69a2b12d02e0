#include "bench/measure/record.hpp"

#include <set>

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

nlohmann::json differing(const nlohmann::json& root, const nlohmann::json& other,
                         std::uint64_t rank) {
  const nlohmann::json expected = root.flatten();
  const nlohmann::json found = other.flatten();
  nlohmann::json differences = nlohmann::json::array();
  const auto note = [&](const std::string& path, const nlohmann::json& value) {
    differences.push_back({{"path", path}, {"rank", rank}, {"value", value}});
  };
  for (const auto& [path, value] : found.items()) {
    if (!expected.contains(path) || expected[path] != value) note(path, value);
  }
  for (const auto& [path, value] : expected.items()) {
    if (!found.contains(path)) note(path, nullptr);
  }
  return differences;
}

}  // namespace slabmark
