#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "capture/read/round_key.hpp"

namespace slabmark {

/// The facts about the datasets that all ranks must know before the calls can be placed.
struct DatasetShapes {
  struct Shape {
    bool has_time = false;
    std::vector<std::uint64_t> extent;  ///< without time
  };
  std::map<std::uint64_t, Shape> of_definition;
  /// Points at which ranks of a file met, by path and number, while requests of some were pending:
  /// no round ends there, since their memory is still in use.
  std::set<std::pair<std::uint64_t, std::uint64_t>> passed_through;
  bool records_are_rounds =
      true;  ///< of blocking calls; else it cannot be told which rounds are whose
  std::set<std::uint64_t> moved_paths;  ///< in the direction asked for
  /// Rounds between which ranks went to and fro: they are one, the first of them.
  std::map<RoundKey, RoundKey> united;
};

}  // namespace slabmark
