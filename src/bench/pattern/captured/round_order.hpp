#pragma once

#include <compare>
#include <vector>

#include "capture/read/captured_walk.hpp"

namespace slabmark {

/// That a rank came from one round to another; its first has itself before it.
struct RoundStep {
  RoundKey before, after;

  auto operator<=>(const RoundStep&) const = default;
};

/// All rounds of the steps of all ranks, in an order in which no rank goes back: that of the steps
/// where these leave a choice. Rounds between which ranks went to and fro come together.
std::vector<std::vector<RoundKey>> in_order(const std::vector<RoundStep>& steps);

}  // namespace slabmark
