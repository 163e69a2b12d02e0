#include "bench/pattern/conformance.hpp"

#include <iterator>

#include "bench/pattern/conformance_cases.hpp"

namespace slabmark {
namespace conformance {

Pattern make_case(std::string name, std::vector<Dataset> datasets, Rounds rounds) {
  Pattern pattern;
  pattern.name = std::move(name);
  pattern.datasets = std::move(datasets);
  pattern.rounds = rounds.size();
  pattern.transfers = [rounds = std::move(rounds)](std::uint64_t round) {
    return rounds.at(round);
  };
  return pattern;
}

Dataset fixed(std::string name, ElementType type, std::vector<Dimension> dimensions) {
  return {.name = std::move(name),
          .type = type,
          .dimensions = std::move(dimensions),
          .has_time = false,
          .chunk = {}};
}

Dataset with_time(std::string name, ElementType type, std::vector<Dimension> dimensions) {
  Dataset dataset = fixed(std::move(name), type, std::move(dimensions));
  dataset.has_time = true;
  return dataset;
}

SelectionPtr part_of_vector(Share share, std::uint64_t length) {
  const Run mine = equal_range(length, share.rank, share.size);
  if (mine.length == 0) return select_none({length});
  return select_row_runs({length}, {mine});
}

}  // namespace conformance

std::vector<Pattern> conformance_patterns(int rank, int size) {
  const conformance::Share share{static_cast<std::uint64_t>(rank),
                                 static_cast<std::uint64_t>(size)};
  std::vector<Pattern> all;
  for (const auto& cases :
       {conformance::box_cases, conformance::scattered_cases, conformance::round_cases}) {
    std::vector<Pattern> some = cases(share);
    all.insert(all.end(), std::make_move_iterator(some.begin()),
               std::make_move_iterator(some.end()));
  }
  return all;
}

}  // namespace slabmark
