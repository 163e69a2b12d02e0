#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "bench/method/method.hpp"
#include "bench/method/zarr/options.hpp"
#include "storage/zarr/store.hpp"

namespace slabmark {

/// How the datasets of a pattern are stored. Time is the first dimension of an array, and a shard
/// has one step of it.
std::vector<zarr::NamedArray> zarr_arrays(const Pattern& pattern, const ZarrOptions& options);

/// MethodInfo::supports of Zarr methods.
std::optional<std::string> unmet_by_zarr(const Pattern& pattern, const Settings& settings);

/// MethodInfo::compresses of Zarr methods.
bool compresses_zarr(const Settings& settings);

/// Throws InputError where the array, which is at `path`, is not what the pattern says of a
/// dataset, or has several time steps in a shard.
void require_dataset(const zarr::ArrayMetadata& array, const Pattern& pattern, std::size_t dataset,
                     const std::string& path);

}  // namespace slabmark
