#pragma once

#include <memory>

#include "capture/replay/replay.hpp"

namespace slabmark {

std::unique_ptr<Replay> make_pnetcdf_replay(const Replay::Context& context);

}  // namespace slabmark
