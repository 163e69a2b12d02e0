#include "bench/pattern/bound.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/error.hpp"

namespace slabmark {
namespace {

/// This rank's run of bytes in each round, and the bytes of all rounds at the end.
struct Layout {
  RunList mine;
  std::uint64_t total = 0;
};

Layout lay_out(std::span<const BoundRound> rounds, bool each_from_start) {
  Layout layout;
  for (const BoundRound& round : rounds) {
    const std::uint64_t begin = each_from_start ? 0 : layout.total;
    if (round.before > round.total || round.mine > round.total - round.before) {
      throw InputError(
          fmt::format("Round {} of a bound has {} bytes in all, but this rank's {} bytes stand "
                      "after {} others.",
                      layout.mine.size(), round.total, round.mine, round.before));
    }
    layout.mine.push_back({begin + round.before, round.mine});
    layout.total = std::max(layout.total, begin + round.total);
  }
  return layout;
}

}  // namespace

Pattern make_bound(const std::string& of, std::span<const BoundRound> rounds, FilePolicy policy,
                   std::uint64_t files) {
  const Layout layout = lay_out(rounds, policy == FilePolicy::a_round);
  const Extent extent = {std::max<std::uint64_t>(layout.total, 1)};

  Pattern pattern;
  pattern.name = "bound";
  pattern.settings = {{"of", of}};
  pattern.rounds = rounds.size();
  pattern.file_policy = policy;
  pattern.files = files;
  pattern.datasets.push_back({.name = "bound",
                              .type = ElementType::uint8,
                              .dimensions = {{"byte", extent[0]}},
                              .has_time = false,
                              .chunk = {}});
  std::vector<SelectionPtr> selections;
  for (const Run& run : layout.mine) {
    selections.push_back(run.length == 0 ? select_none(extent) : select_row_runs(extent, {run}));
  }
  pattern.transfers = [selections](std::uint64_t round) {
    return std::vector<Transfer>{{0, 0, selections.at(round), nullptr}};
  };
  return pattern;
}

}  // namespace slabmark
