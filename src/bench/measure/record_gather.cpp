#include "bench/measure/record_gather.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <sstream>
#include <vector>

#include "core/base/host_name.hpp"

namespace slabmark {

namespace {

RankSummary summary_with_host(const Comm& comm, double value, std::span<const std::string> hosts) {
  RankSummary summary = summarise_ranks(comm.gather(value));
  if (comm.is_root()) summary.slowest_host = hosts[summary.slowest];
  return summary;
}

/// On root, each number of the rank where it is the least or greatest.
std::vector<double> reduced(const Comm& comm, const std::vector<double>& mine, MPI_Op operation) {
  std::vector<double> result(mine.size());
  check_mpi(MPI_Reduce(mine.data(), result.data(), static_cast<int>(mine.size()), MPI_DOUBLE,
                       operation, 0, comm.get()),
            "MPI_Reduce");
  return result;
}

/// Seconds in which every rank was in an agreement, on root: the rank that comes to it last waits
/// the least, so this needs no clocks that are alike. It holds what the clock itself takes.
double between_parts(const Comm& comm, const RankTimes& times) {
  std::vector<double> waits;
  double outside = times.open_to_close;
  for (const PhasePart& part : times.parts) {
    waits.push_back(part.until_all - part.seconds);
    outside -= part.until_all;
  }
  waits.push_back(outside);
  const std::vector<double> least = reduced(comm, waits, MPI_MIN);
  return std::accumulate(least.begin(), least.end(), 0.0);
}

/// Seconds of each phase with the slowest rank of each of its parts, on root. `seconds_of` names
/// the member of a part.
std::array<double, phase_count> slowest_parts(const Comm& comm, const RankTimes& times,
                                              double PhasePart::*seconds_of) {
  std::vector<double> mine;
  for (const PhasePart& part : times.parts) mine.push_back(part.*seconds_of);
  const std::vector<double> slowest = reduced(comm, mine, MPI_MAX);
  std::array<double, phase_count> seconds{};
  for (std::size_t i = 0; i < mine.size(); ++i) {
    seconds[static_cast<std::size_t>(times.parts[i].phase)] += slowest[i];
  }
  return seconds;
}

/// The names of the spans of all ranks, on all ranks.
std::set<std::string> names_of_all(const Comm& comm, const std::map<std::string, double>& spans) {
  if (!comm.any(!spans.empty())) return {};
  std::string mine;
  for (const auto& [name, seconds] : spans) mine += name + '\n';
  std::set<std::string> names;
  const auto collect = [&names](const std::string& text) {
    std::istringstream lines(text);
    for (std::string name; std::getline(lines, name);) names.insert(name);
  };
  for (const std::string& text : comm.gather(mine)) collect(text);
  std::string all;
  for (const std::string& name : names) all += name + '\n';
  collect(comm.broadcast(all));
  return names;
}

double sum_of_phases(const RankTimes& times) {
  double sum = 0.0;
  for (const Phase phase : all_phases) sum += times[phase];
  return sum;
}

}  // namespace

TrialRecord gather_trial(const Comm& comm, const RankTimes& times) {
  const std::vector<std::string> hosts = comm.gather(host_name());
  TrialRecord trial;
  trial.open_to_close = comm.max(times.open_to_close);
  trial.busy = summary_with_host(comm, sum_of_phases(times), hosts);
  trial.open_to_close_ranks = summary_with_host(comm, times.open_to_close, hosts);
  trial.transfer_ranks =
      summary_with_host(comm, transfer_of([&](Phase phase) { return times[phase]; }), hosts);
  const auto seconds = slowest_parts(comm, times, &PhasePart::seconds);
  const auto until_all = slowest_parts(comm, times, &PhasePart::until_all);
  for (const Phase phase : all_phases) {
    const std::vector<double> by_rank = comm.gather(times[phase]);
    RankSummary ranks = summarise_ranks(by_rank);
    if (!comm.is_root() || ranks.max == 0.0) continue;
    ranks.slowest_host = hosts[ranks.slowest];
    // Parts are summed in another order than a rank's own sum: without the maximum, rounding could
    // put a phase a hair under its slowest rank.
    const auto place = static_cast<std::size_t>(phase);
    trial.phases[phase] = {std::max(seconds[place], ranks.max), ranks, until_all[place]};
    trial.slowest_split[phase] = by_rank[trial.busy.slowest];
  }
  trial.agreements = between_parts(comm, times);
  for (const std::string& name : names_of_all(comm, times.spans)) {
    const auto found = times.spans.find(name);
    const double mine = found == times.spans.end() ? 0.0 : found->second;
    trial.spans[name] = summary_with_host(comm, mine, hosts);
  }
  return comm.is_root() ? trial : TrialRecord{};
}

RankSummary gather_summary(const Comm& comm, double value) {
  const std::vector<std::string> hosts = comm.gather(host_name());
  return summary_with_host(comm, value, hosts);
}

Json gather_differences(const Comm& comm, const Json& effective) {
  // Each rank compares for itself and tells root only where it departs, so root need not hold
  // everyone's settings.
  const Json of_root = Json::parse(comm.broadcast(effective.dump()));
  const auto rank = static_cast<std::uint64_t>(comm.rank());
  const Json mine = differing(of_root, effective, rank);
  Json all = Json::array();
  std::set<std::string> listed;
  for (const std::string& text : comm.gather(mine.empty() ? "" : mine.dump())) {
    if (text.empty()) continue;
    for (const Json& entry : Json::parse(text)) {
      if (listed.insert(entry.at("path").get<std::string>()).second) all.push_back(entry);
    }
  }
  return all;
}

}  // namespace slabmark
