#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "bench/measure/term.hpp"

namespace slabmark {

/// Where a method's time goes. All of it is in exactly one phase. `phase_terms` describes them.
enum class Phase { create, open, define, prepare, post, flush, sync, close };

/// By the number of the phase.
inline constexpr std::array phase_terms = {
    Term{"create", "s", "creates the file (writing)"},
    Term{"open", "s", "opens the file and looks up what is in it (reading)"},
    Term{"define", "s",
         "defines dimensions, datasets and attributes; the library may allocate and fill storage"},
    Term{"prepare", "s",
         "builds what the selections need: datatypes, unions of hyperslabs, argument lists, plans"},
    Term{"post", "s", "hands over the requests; a blocking method moves its data here"},
    Term{"flush", "s", "completes the requests; a nonblocking method moves its data here"},
    Term{"sync", "s", "makes the data durable (fsync), where that was asked for"},
    Term{"close", "s", "closes the file"}};

inline constexpr std::size_t phase_count = phase_terms.size();

inline constexpr std::array all_phases = [] {
  std::array<Phase, phase_count> phases{};
  for (std::size_t i = 0; i < phase_count; ++i) phases[i] = static_cast<Phase>(i);
  return phases;
}();

constexpr std::string_view name_of(Phase phase) {
  return phase_terms.at(static_cast<std::size_t>(phase)).name;
}

/// Seconds of the phases that move the data, prepare, post and flush, which together are called
/// transfer. `seconds_of` tells those of a phase.
template <class SecondsOf>
double transfer_of(const SecondsOf& seconds_of) {
  return seconds_of(Phase::prepare) + seconds_of(Phase::post) + seconds_of(Phase::flush);
}

}  // namespace slabmark
