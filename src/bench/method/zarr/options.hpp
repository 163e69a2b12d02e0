#pragma once

#include <string>

#include "bench/method/hdf5/chunk.hpp"
#include "bench/method/options.hpp"
#include "storage/zarr/codec.hpp"

namespace slabmark {

/// How a Zarr method stores arrays.
struct ZarrOptions {
  Hdf5Chunks chunks;
  Hdf5Chunks shards{"512K", "Option zarr.shard"};
  zarr::Codec codec;  ///< without a name: chunks are stored as they are
};

OptionTable<ZarrOptions> zarr_options();

}  // namespace slabmark
