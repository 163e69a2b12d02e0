#include "bench/method/zarr/layout.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "bench/method/raw/raw_layout.hpp"
#include "core/base/error.hpp"
#include "core/base/number.hpp"

namespace slabmark {

namespace {

constexpr std::uint64_t most_line_bytes = std::uint64_t{1} << 61;  // of places beyond a file

Dataset without_time(Dataset dataset) {
  dataset.has_time = false;
  return dataset;
}

std::uint64_t rounded_up(std::uint64_t length, std::uint64_t multiple) {
  return (length + multiple - 1) / multiple * multiple;
}

/// Equal shards along each dimension, since the rest of the last one would be stored as well.
Extent evened_out(Extent shard, const Extent& extent) {
  for (std::size_t d = 0; d < shard.size(); ++d) {
    const std::uint64_t length = std::max<std::uint64_t>(1, extent[d]);
    const std::uint64_t shards = (length + shard[d] - 1) / shard[d];
    shard[d] = (length + shards - 1) / shards;
  }
  return shard;
}

/// Sets the lengths of chunks and shards of a step.
void choose_shards(zarr::ArrayMetadata& array, const Dataset& step, const ZarrOptions& options) {
  array.chunk = options.chunks.of(step, true);
  array.shard = options.shards.of(step, true);
  array.is_sharded = !array.shard.empty();
  if (!array.is_sharded) {
    array.shard = array.chunk;
    for (std::size_t d = array.shard.size(); d < step.dimensions.size(); ++d) {
      array.shard.push_back(std::max<std::uint64_t>(1, step.dimensions[d].length));
    }
    array.chunk = array.shard;
    return;
  }
  const bool has_lengths = options.shards.text().find('x') != std::string::npos;
  if (!has_lengths) array.shard = evened_out(array.shard, step.extent());
  if (array.chunk.empty()) array.chunk = array.shard;
  for (std::size_t d = 0; d < array.shard.size(); ++d) {
    array.shard[d] = rounded_up(array.shard[d], array.chunk[d]);
  }
}

zarr::ArrayMetadata array_of(const Dataset& dataset, std::uint64_t records,
                             const ZarrOptions& options) {
  zarr::ArrayMetadata array;
  array.shape = dataset.extent();
  array.type = dataset.type;
  choose_shards(array, without_time(dataset), options);
  for (const Dimension& dimension : dataset.dimensions) {
    array.dimensions.push_back(dimension.name);
  }
  if (dataset.has_time) {
    array.shape.insert(array.shape.begin(), records);
    array.shard.insert(array.shard.begin(), 1);
    array.chunk.insert(array.chunk.begin(), 1);
    array.dimensions.insert(array.dimensions.begin(), "time");
  }
  if (!options.codec.name.empty()) array.codecs = {options.codec};
  array.fill.assign(size_of(array.type), std::byte{0});
  array.attributes = dataset.attributes;
  return array;
}

std::optional<std::string> unfit_names(const Pattern& pattern) {
  std::set<std::string> names;
  for (const Dataset& dataset : pattern.datasets) {
    const std::string reason = zarr::unfit_name(dataset.name);
    if (!reason.empty()) {
      return fmt::format("no Zarr array can be called '{}': {}", dataset.name, reason);
    }
    names.insert(dataset.name);
  }
  for (const std::string& name : names) {
    for (auto end = name.find('/'); end != std::string::npos; end = name.find('/', end + 1)) {
      if (!names.contains(name.substr(0, end))) continue;
      return fmt::format("'{}' would lie in the Zarr array '{}'", name, name.substr(0, end));
    }
  }
  return std::nullopt;
}

std::uint64_t line_bytes(const zarr::ArrayMetadata& array) {
  std::uint64_t bytes = size_of(array.type);
  for (std::size_t d = 0; d < array.shape.size(); ++d) {
    bytes = product_or_most(bytes, rounded_up(array.shape[d], array.shard[d]));
  }
  return bytes;
}

}  // namespace

std::vector<zarr::NamedArray> zarr_arrays(const Pattern& pattern, const ZarrOptions& options) {
  const std::uint64_t records = record_count(pattern);
  std::vector<zarr::NamedArray> arrays;
  for (const Dataset& dataset : pattern.datasets) {
    arrays.push_back({dataset.name, array_of(dataset, records, options)});
  }
  return arrays;
}

std::optional<std::string> unmet_by_zarr(const Pattern& pattern, const Settings& settings) {
  const ZarrOptions options = zarr_options().read(settings);
  if (!options.codec.name.empty()) {
    const std::string reason = zarr::codec_unavailable(options.codec.name);
    if (!reason.empty()) return reason;
  }
  if (auto reason = unfit_names(pattern)) return reason;
  if (auto reason = too_large_for_raw(pattern)) return reason;
  for (const Dataset& dataset : pattern.datasets) {
    for (const Hdf5Chunks* chunks : {&options.chunks, &options.shards}) {
      if (auto reason = chunks->unsuited(without_time(dataset))) return reason;
    }
  }
  std::uint64_t bytes = 0;
  for (const zarr::NamedArray& one : zarr_arrays(pattern, options)) {
    bytes += std::min(line_bytes(one.array), most_line_bytes);
    if (bytes >= most_line_bytes) {
      return fmt::format("the shards up to '{}' have 2^61 bytes or more", one.name);
    }
  }
  return std::nullopt;
}

bool compresses_zarr(const Settings& settings) {
  return !zarr_options().read(settings).codec.name.empty();
}

void require_dataset(const zarr::ArrayMetadata& array, const Pattern& pattern, std::size_t number,
                     const std::string& path) {
  const Dataset& dataset = pattern.datasets[number];
  const auto refuse = [&](const std::string& reason) {
    throw InputError(fmt::format("The array '{}' {}; name the store that holds the dataset '{}'.",
                                 path, reason, dataset.name));
  };
  const ElementType type =
      dataset.type == ElementType::character ? ElementType::uint8 : dataset.type;
  if (array.type != type) {
    refuse(fmt::format("holds {}, not {}", name_of(array.type), name_of(type)));
  }
  Extent shape = dataset.extent();
  if (dataset.has_time) {
    shape.insert(shape.begin(), array.shape.empty() ? 0 : array.shape.front());
  }
  if (array.shape != shape) {
    refuse(fmt::format("has the shape {}, not {}", to_string(array.shape), to_string(shape)));
  }
  if (line_bytes(array) >= most_line_bytes) refuse("has shards of 2^61 bytes or more");
  if (!dataset.has_time) return;
  if (array.shard.front() != 1) refuse("has several time steps in a shard");
  const std::uint64_t records = record_count(pattern);
  if (shape.front() < records) {
    refuse(fmt::format("has {} time steps, not {}", shape.front(), records));
  }
}

}  // namespace slabmark
