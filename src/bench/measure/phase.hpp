#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace slabmark {

/// Where a method's time goes. All of it is in exactly one phase.
enum class Phase {
  create,   ///< create the file (writing)
  open,     ///< open the file and look up its datasets (reading)
  define,   ///< define dimensions, datasets, attributes; allocate and fill storage
  prepare,  ///< build what the selections need: datatypes, unions, start/count arrays, plans
  post,     ///< hand over the requests; a blocking method moves the data here
  flush,    ///< complete what was posted
  sync,     ///< make it durable (fsync); only if asked for
  close,    ///< close the file
};

inline constexpr std::size_t phase_count = 8;

inline constexpr std::array<Phase, phase_count> all_phases = {
    Phase::create, Phase::open,  Phase::define, Phase::prepare,
    Phase::post,   Phase::flush, Phase::sync,   Phase::close};

std::string_view name_of(Phase phase);

/// Seconds of the phases that move the data, prepare, post and flush, which together are called
/// transfer. `seconds_of` tells those of a phase.
template <class SecondsOf>
double transfer_of(const SecondsOf& seconds_of) {
  return seconds_of(Phase::prepare) + seconds_of(Phase::post) + seconds_of(Phase::flush);
}

}  // namespace slabmark
