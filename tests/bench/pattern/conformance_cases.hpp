#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bench/pattern/pattern.hpp"

/// What the conformance patterns are made from; no business of anyone else.
namespace slabmark::conformance {

/// One rank among how many.
struct Share {
  std::uint64_t rank = 0;
  std::uint64_t size = 1;

  bool is_first() const { return rank == 0; }
  bool is_last() const { return rank + 1 == size; }
};

/// Transfers of each round.
using Rounds = std::vector<std::vector<Transfer>>;

Pattern make_case(std::string name, std::vector<Dataset> datasets, Rounds rounds);

Dataset fixed(std::string name, ElementType type, std::vector<Dimension> dimensions);
Dataset with_time(std::string name, ElementType type, std::vector<Dimension> dimensions);

/// Nearly equal consecutive parts of a vector.
SelectionPtr part_of_vector(Share share, std::uint64_t length);

std::vector<Pattern> box_cases(Share share);        ///< regular selections, buffers with gaps
std::vector<Pattern> scattered_cases(Share share);  ///< decompositions
std::vector<Pattern> round_cases(Share share);      ///< records, rounds, ranks without data

}  // namespace slabmark::conformance
