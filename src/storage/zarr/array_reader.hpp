#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "storage/posix/file.hpp"
#include "storage/zarr/buffers.hpp"
#include "storage/zarr/metadata.hpp"

namespace slabmark::zarr {

/// Reads an array of a store that any program may have written. Elements that the store does not
/// hold have the fill value. Throws InputError, which names the file, for damaged shards.
class ArrayReader {
 public:
  ArrayReader(std::string folder, ArrayMetadata array,
              BuffersPtr buffers = std::make_shared<Buffers>());
  /// With the metadata that it reads from `folder`.
  explicit ArrayReader(const std::string& folder);

  const ArrayMetadata& array() const { return array_; }

  /// Fills a shard, row-major, all of it also where it reaches beyond the array. False: the store
  /// does not have it.
  bool read_shard(const Extent& index, std::byte* out);

  /// Reads a box of the array, row-major. Shards that it touches are kept for the next box.
  void read(const Extent& start, const Extent& count, std::byte* out);
  /// Fills memory with the fill value.
  void fill(std::byte* out, std::uint64_t bytes) const;
  /// Gives up those shards, and all memory.
  void forget() {
    kept_.clear();
    *buffers_ = {};
  }

 private:
  void read_chunks(posix::File& file, std::byte* out);
  std::vector<std::byte> read_index(posix::File& file, std::uint64_t chunks) const;
  void read_chunk(posix::File& file, std::uint64_t offset, std::uint64_t bytes);
  const std::byte* kept_shard(const Extent& index);

  std::string folder_;
  ArrayMetadata array_;
  BuffersPtr buffers_;
  std::map<Extent, std::vector<std::byte>> kept_;
};

}  // namespace slabmark::zarr
