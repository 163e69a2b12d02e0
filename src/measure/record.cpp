#include "measure/record.hpp"

#include <set>

namespace slabmark {

double TrialRecord::seconds(Phase phase) const {
  const auto found = phases.find(phase);
  return found == phases.end() ? 0.0 : found->second.seconds;
}

double TrialRecord::transfer() const {
  return seconds(Phase::prepare) + seconds(Phase::post) + seconds(Phase::flush);
}

double TrialRecord::overhead() const {
  double sum = 0.0;
  for (const auto& [phase, record] : phases) sum += record.seconds;
  return open_to_close - sum;
}

std::string_view name_of(Verified state) {
  switch (state) {
    case Verified::yes:
      return "yes";
    case Verified::no:
      return "no";
    case Verified::not_asked:
      return "not asked";
  }
  return "unknown";
}

namespace {

/// One number of each trial that is no warm-up.
template <typename Number>
std::vector<double> each(std::span<const TrialRecord> trials, Number number) {
  std::vector<double> values;
  for (const TrialRecord& trial : trials) {
    if (!trial.warm_up) values.push_back(number(trial));
  }
  return values;
}

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

CellSummary summarise(std::span<const TrialRecord> trials, std::uint64_t bytes) {
  CellSummary summary;
  for (const Phase phase : phases_of(trials)) {
    summary.phases[phase] =
        summarise_trials(each(trials, [phase](const TrialRecord& t) { return t.seconds(phase); }));
  }
  summary.transfer = rated(each(trials, [](const TrialRecord& t) { return t.transfer(); }), bytes);
  summary.open_to_close = rated(measured_seconds(trials), bytes);
  summary.overhead =
      summarise_trials(each(trials, [](const TrialRecord& t) { return t.overhead(); }));
  return summary;
}

std::vector<double> measured_seconds(std::span<const TrialRecord> trials) {
  return each(trials, [](const TrialRecord& t) { return t.open_to_close; });
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
