#pragma once

#include "checkpoint/settings.hpp"
#include "storage/hdf5/handle.hpp"

/// The compound `simulation_attributes`; no business of anyone but attributes.cpp.
namespace slabmark::checkpoint_record {

/// Both throw IoError that names `path`.
void write(hid_t file, const std::string& path, const CheckpointSettings& settings);
CheckpointSettings read(hid_t file, const std::string& path);

}  // namespace slabmark::checkpoint_record
