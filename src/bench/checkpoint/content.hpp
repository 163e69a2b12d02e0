#pragma once

#include <memory>

#include "bench/checkpoint/settings.hpp"
#include "bench/pattern/content.hpp"
#include "core/parallel/comm.hpp"

namespace slabmark {

/// The contents that seism-core-slice writes: the rank of the owner, or the values of the fill
/// function in the settings. The same at all times. Loads the function's library: throws InputError
/// as FillFunction does, on the rank where it is missing.
std::shared_ptr<const Content> make_checkpoint_content(const CheckpointSettings& settings);

/// The pattern of the settings for this rank, `with_content` or, where nothing is to be filled or
/// checked, without. Not collective; throws InputError as both parts do.
Pattern make_checkpoint(const Comm& comm, const CheckpointSettings& settings,
                        bool with_content = true);

}  // namespace slabmark
