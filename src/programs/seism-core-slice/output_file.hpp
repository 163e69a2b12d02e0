#pragma once

#include <string>

#include "bench/checkpoint/settings.hpp"
#include "core/parallel/comm.hpp"

namespace slabmark::seism_core_slice {

/// Collective. The name, beside its own, under which the file of a run is written: it takes its own
/// when it is complete, so that an earlier file stays until then and a run that fails leaves
/// nothing. Throws an agreed Error where no such file can be made: something else stands at the
/// path, `records` are to go there, or the bytes do not fit on the disk or under the file size
/// limit.
std::string name_to_write(const Comm& comm, const CheckpointSettings& settings,
                          const std::string& records);

/// True if stripes were asked for and there is a program `lfs`; says so on standard error if there
/// is none. On one rank.
bool can_stripe(const CheckpointSettings& settings);

/// Makes the empty file `path` with the stripes of the settings: `lfs setstripe`. On one rank.
/// Throws IoError with what lfs says.
void make_striped(const CheckpointSettings& settings, const std::string& path);

}  // namespace slabmark::seism_core_slice
