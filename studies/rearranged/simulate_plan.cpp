// Plays the plans of all ranks of a large run on one process, without data: what aggregators hold,
// how many messages go between nodes, and how long they are. See README.md for the command and a
// sample, docs/explanation/collective-rearrangement.md for the model that it checks.

#include <algorithm>
#include <cstdint>
#include <exception>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/pattern/output_table.hpp"
#include "bench/pattern/synthetic/f_decomposition.hpp"
#include "collective/exchange/file_domain.hpp"
#include "collective/exchange/flush_plan.hpp"
#include "collective/exchange/move_elements.hpp"
#include "collective/exchange/rearranger.hpp"
#include "core/base/number.hpp"

namespace {

using namespace slabmark;

struct Arguments {
  std::uint64_t ne, ranks, levels, per_node, aggregators_per_node, window;
  std::uint64_t nodes() const { return (ranks + per_node - 1) / per_node; }
  std::uint64_t window_of_aggregator() const { return window / windows_in_memory(nodes()); }
};

/// The file: one array for each variable of F h0, one after another.
struct File {
  FileDomain domain;
  std::vector<PlanItem> items;
  std::vector<PlanMap> maps;
};

File lay_out(const SyntheticDecomposition& f) {
  OutputShare share;
  for (const SyntheticMap& map : f.maps) share.maps.push_back(select_none(map.dims));
  const OutputTable table = find_output_table("f-h0");
  const Pattern pattern = make_output_pattern(table, share);
  std::vector<ArrayPlace> places;
  std::uint64_t end = 0;
  for (const Dataset& dataset : pattern.datasets) {
    places.push_back({end, size_of(dataset.type), element_count(dataset.extent())});
    end += places.back().bytes();
  }
  File file;
  file.domain = FileDomain(places, 0);
  for (const SyntheticMap& map : f.maps)
    file.maps.push_back({{}, element_count(map.dims), map.name});
  for (std::size_t i = 0; i < table.variables.size(); ++i) {
    if (!table.variables[i].map) continue;  // 27 small ones of rank 0
    file.items.push_back({file.domain.array_at(places[i]), *table.variables[i].map});
  }
  return file;
}

std::vector<RunList> runs_of(const SyntheticDecomposition& f, std::uint64_t rank) {
  std::vector<RunList> maps;
  for (const SyntheticMap& map : f.maps) {
    maps.push_back(model_order_runs(map, rank));
    sort_runs(maps.back());
    coalesce(maps.back());
  }
  return maps;
}

std::uint64_t runs_within(const RunList& line, const RunList& needed) {
  std::uint64_t runs = 0;
  for (const Run& part : needed) runs += within(line, part).size();
  return runs;
}

/// `count` of [0, total) at equal distances.
std::vector<std::uint64_t> sample(std::uint64_t total, std::uint64_t count) {
  std::vector<std::uint64_t> chosen;
  for (std::uint64_t i = 0; i < std::min(total, count); ++i) {
    chosen.push_back(equal_range(total, i, std::min(total, count)).offset);
  }
  return chosen;
}

struct Spread {
  std::uint64_t least = ~std::uint64_t{0}, most = 0, total = 0, count = 0;
  void add(std::uint64_t value) {
    least = std::min(least, value);
    most = std::max(most, value);
    total += value;
    ++count;
  }
  double mean() const { return static_cast<double>(total) / static_cast<double>(count); }
  std::string text(const std::string& unit) const {
    return fmt::format("{} .. {} (mean {:.0f}) {}", least, most, mean(), unit);
  }
};

/// Runs of all ranks that sampled aggregators get: 16 bytes each.
Spread plan_runs(const SyntheticDecomposition& f, const File& file,
                 const std::vector<std::uint64_t>& cuts) {
  const auto map_begin = line_of_maps(file.maps);
  const auto chosen = sample(cuts.size() - 1, 16);
  std::vector<RunList> needed;
  for (const std::uint64_t a : chosen) {
    needed.push_back(needed_elements(file.domain, file.items, map_begin, cuts[a], cuts[a + 1]));
  }
  std::vector<std::uint64_t> runs(chosen.size(), 0);
  for (std::uint64_t rank = 0; rank < f.ranks; ++rank) {
    RunList line;
    const auto maps = runs_of(f, rank);
    for (std::size_t m = 0; m < maps.size(); ++m) {
      for (const Run& run : maps[m]) line.push_back({map_begin[m] + run.offset, run.length});
    }
    for (std::size_t i = 0; i < chosen.size(); ++i) runs[i] += runs_within(line, needed[i]);
  }
  Spread spread;
  for (const std::uint64_t count : runs) spread.add(count);
  return spread;
}

struct Traffic {
  Spread messages;  ///< of a rank in a flush
  Spread bytes;     ///< of a message
};

/// What sampled ranks send to aggregators of other nodes.
Traffic traffic(const Arguments& arguments, const SyntheticDecomposition& f, const File& file,
                const std::vector<std::uint64_t>& cuts) {
  std::vector<std::vector<std::size_t>> items_of(file.domain.arrays().size());
  for (std::size_t i = 0; i < file.items.size(); ++i) items_of[file.items[i].array].push_back(i);
  const std::uint64_t window = arguments.window_of_aggregator();
  const std::uint64_t aggregators = cuts.size() - 1;
  Traffic found;
  for (const std::uint64_t rank : sample(f.ranks, 24)) {
    const auto maps = runs_of(f, rank);
    std::uint64_t messages = 0;
    for (std::uint64_t a = 0; a < aggregators; ++a) {
      const std::uint64_t its_rank = a * f.ranks / aggregators;
      if (its_rank / arguments.per_node == rank / arguments.per_node) continue;
      for (std::uint64_t begin = cuts[a]; begin < cuts[a + 1];) {
        const std::uint64_t end = std::min(cuts[a + 1], file.domain.next_unit(begin + window));
        std::uint64_t bytes = 0;
        for (const FileDomain::Part& part : file.domain.parts_in(begin, end)) {
          for (const std::size_t item : items_of[part.array]) {
            bytes += count_in(maps[file.items[item].map], part.elements) *
                     file.domain.arrays()[part.array].place.element_bytes;
          }
        }
        if (bytes > 0) {
          ++messages;
          found.bytes.add(bytes);
        }
        begin = end;
      }
    }
    found.messages.add(messages);
  }
  return found;
}

void run(Arguments arguments) {
  const auto f = make_f_decomposition(arguments.ne, arguments.ranks, arguments.levels);
  const File file = lay_out(f);
  const std::uint64_t aggregators =
      std::min(arguments.ranks, arguments.nodes() * arguments.aggregators_per_node);
  if (arguments.window == 0) arguments.window = default_window(arguments.nodes(), arguments.ranks);
  const auto cuts = file.domain.cut(aggregators, 4096);
  const std::uint64_t share = file.domain.bytes() / aggregators;
  const std::uint64_t window = arguments.window_of_aggregator();
  fmt::print("F h0, ne {}, {} ranks on {} nodes, {} aggregators, window {}\n", arguments.ne,
             arguments.ranks, arguments.nodes(), aggregators, format_bytes(arguments.window));
  fmt::print("data: {}, {} a rank, {} an aggregator, {} windows\n",
             format_bytes(file.domain.bytes()), format_bytes(file.domain.bytes() / arguments.ranks),
             format_bytes(share), (share + window - 1) / window);
  const Spread runs = plan_runs(f, file, cuts);
  fmt::print("plan of an aggregator: {}, {} at most\n", runs.text("runs"),
             format_bytes(16 * runs.most));
  if (arguments.nodes() == 1) return;
  const Traffic messages = traffic(arguments, f, file, cuts);
  fmt::print("messages of a rank to other nodes: {}\n", messages.messages.text("a flush"));
  fmt::print("bytes of a message: {}\n", messages.bytes.text(""));
  const double received = messages.messages.mean() * static_cast<double>(arguments.ranks) /
                          static_cast<double>(aggregators);
  fmt::print("messages that an aggregator receives: {:.0f} a flush\n", received);
  const auto of_node = static_cast<double>(arguments.per_node);
  fmt::print("if each node put its own together first: {:.0f} a flush, of {:.0f} bytes\n",
             received / of_node, messages.bytes.mean() * of_node);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const auto argument = [&](int i, const char* what, std::uint64_t otherwise) {
      return argc > i ? parse_size(argv[i], what) : otherwise;
    };
    run({argument(1, "ne", 120), argument(2, "number of ranks", 21600),
         argument(3, "number of levels", 72), argument(4, "ranks a node", 32),
         argument(5, "aggregators a node", 4), argument(6, "window", 0)});
  } catch (const std::exception& error) {
    fmt::print(stderr, "simulate_plan: error: {}\n", error.what());
    return 2;
  }
  return 0;
}
