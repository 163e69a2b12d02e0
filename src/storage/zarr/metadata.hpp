#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/geometry/dataset.hpp"
#include "core/geometry/element_type.hpp"
#include "core/geometry/extent.hpp"
#include "core/json/json.hpp"
#include "storage/zarr/codec.hpp"

namespace slabmark::zarr {

/// An array of a store, as its `zarr.json` describes it. The elements of a shard are in a file of
/// their own: one chunk, or, with the sharding codec, several and their index.
struct ArrayMetadata {
  Extent shape;
  ElementType type = ElementType::float64;
  Extent shard;  ///< lengths of what a file holds
  Extent chunk;  ///< lengths of a chunk in it; `shard` is a multiple
  bool is_sharded = false;
  bool index_at_end = true;
  bool index_has_checksum = true;
  bool is_little_endian = true;
  std::vector<Codec> codecs;            ///< of each chunk's bytes, in the order of encoding
  std::vector<std::byte> fill;          ///< an element, in this machine's byte order
  std::vector<std::string> dimensions;  ///< their names; none, or one each
  std::vector<Attribute> attributes;
  std::string key_begin = "c";  ///< of the names of all shards
  char separator = '.';         ///< between the indices of a shard

  std::uint64_t shard_bytes() const { return element_count(shard) * size_of(type); }
  std::uint64_t chunk_bytes() const { return element_count(chunk) * size_of(type); }
};

/// The name of a shard's file in the array's directory.
std::string key_of(const ArrayMetadata& array, const Extent& index);

/// The contents of the array's `zarr.json`.
Json metadata_of(const ArrayMetadata& array);

/// The reverse, for arrays of any program. Throws InputError, which names the file `path`, for what
/// is no metadata of an array and for what Slabmark cannot read.
ArrayMetadata parse_array(std::string_view text, const std::string& path);

}  // namespace slabmark::zarr
