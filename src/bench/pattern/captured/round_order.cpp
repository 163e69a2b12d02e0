#include "bench/pattern/captured/round_order.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <queue>

namespace slabmark {

namespace {

/// Rounds by number, in the order in which steps have them.
struct Graph {
  std::vector<RoundKey> rounds;
  std::vector<std::vector<std::size_t>> next, previous;

  explicit Graph(const std::vector<RoundStep>& steps) {
    std::map<RoundKey, std::size_t> known;
    const auto number = [&](const RoundKey& round) {
      const auto [place, is_new] = known.try_emplace(round, rounds.size());
      if (is_new) {
        rounds.push_back(round);
        next.emplace_back();
        previous.emplace_back();
      }
      return place->second;
    };
    for (const RoundStep& step : steps) {
      const std::size_t before = number(step.before), after = number(step.after);
      if (before == after) continue;
      next[before].push_back(after);
      previous[after].push_back(before);
    }
  }
};

/// Numbers in the order in which a walk along `edges` leaves them. Those that were visited are left
/// out.
std::vector<std::size_t> left_from(std::size_t start,
                                   const std::vector<std::vector<std::size_t>>& edges,
                                   std::vector<bool>& visited) {
  struct Visit {
    std::size_t round;
    std::size_t done = 0;  ///< edges
  };
  std::vector<std::size_t> left;
  if (visited[start]) return left;
  visited[start] = true;
  for (std::vector<Visit> open{{start}}; !open.empty();) {
    Visit& visit = open.back();
    if (visit.done == edges[visit.round].size()) {
      left.push_back(visit.round);
      open.pop_back();
      continue;
    }
    const std::size_t other = edges[visit.round][visit.done++];
    if (visited[other]) continue;
    visited[other] = true;
    open.push_back({other});
  }
  return left;
}

}  // namespace

std::vector<std::vector<RoundKey>> in_order(const std::vector<RoundStep>& steps) {
  const Graph graph(steps);
  const std::size_t count = graph.rounds.size();
  // Kosaraju's algorithm: what is strongly connected goes together.
  std::vector<std::size_t> left;
  std::vector<bool> visited(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto more = left_from(i, graph.next, visited);
    left.insert(left.end(), more.begin(), more.end());
  }
  std::vector<std::vector<std::size_t>> groups;
  std::vector<std::size_t> group_of(count);
  visited.assign(count, false);
  for (auto i = left.rbegin(); i != left.rend(); ++i) {
    auto group = left_from(*i, graph.previous, visited);
    if (group.empty()) continue;
    std::sort(group.begin(), group.end());
    for (const std::size_t round : group) group_of[round] = groups.size();
    groups.push_back(std::move(group));
  }
  // Of those that nothing comes before any more, the one that the steps have first.
  std::vector<std::size_t> waits_for(groups.size());
  for (std::size_t i = 0; i < count; ++i) {
    for (const std::size_t other : graph.next[i])
      waits_for[group_of[other]] += group_of[other] != group_of[i];
  }
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;  // first rounds
  for (const auto& group : groups) {
    if (waits_for[group_of[group.front()]] == 0) ready.push(group.front());
  }
  std::vector<std::vector<RoundKey>> order;
  while (!ready.empty()) {
    const std::size_t mine = group_of[ready.top()];
    ready.pop();
    order.emplace_back();
    for (const std::size_t round : groups[mine]) {
      order.back().push_back(graph.rounds[round]);
      for (const std::size_t other : graph.next[round]) {
        const std::size_t group = group_of[other];
        if (group != mine && --waits_for[group] == 0) ready.push(groups[group].front());
      }
    }
  }
  return order;
}

}  // namespace slabmark
