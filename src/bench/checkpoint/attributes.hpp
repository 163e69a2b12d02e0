#pragma once

#include <string>

#include "bench/checkpoint/settings.hpp"
#include "core/json/json.hpp"
#include "core/parallel/comm.hpp"
#include "storage/hdf5/file.hpp"

namespace slabmark {

/// Writes what the run was told into the root of `path`: the compound attribute
/// `simulation_attributes` of the committed type `/seismCoreAttributes`, as the original's checker
/// and reader know it, and one plain attribute a setting. `facts` is an object of further plain
/// attributes: texts, numbers, or arrays of counts. Collective. Throws an agreed IoError.
void write_checkpoint_attributes(const Comm& comm, const std::string& path,
                                 const CheckpointSettings& settings, const Json& facts);

/// Reads them back, also from files of the original; `filename` becomes `path`. Collective; the
/// same on all ranks. Throws an agreed InputError if the file holds no checkpoints, or if its
/// dataset is not what its attributes say.
CheckpointSettings read_checkpoint_attributes(const Comm& comm, const std::string& path);

/// The HDF5 methods that move checkpoints: of one file, and of subfiles.
inline constexpr const char* checkpoint_methods[] = {"hdf5-slab", "hdf5-subfiling"};

/// The one that fits how `path` is stored.
std::string method_for(const std::string& path);

}  // namespace slabmark
