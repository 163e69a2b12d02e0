#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/geometry/chunk_grid.hpp"
#include "core/geometry/run.hpp"
#include "storage/posix/file.hpp"
#include "storage/zarr/buffers.hpp"
#include "storage/zarr/metadata.hpp"

namespace slabmark::zarr {

/// Writes the shards of one array, each whole and in one file of its own.
class ShardWriter {
 public:
  struct Tally {
    std::uint64_t files = 0, chunks = 0, raw_bytes = 0, stored_bytes = 0;
  };

  /// `folder`: the array's directory, which must be there.
  ShardWriter(std::string folder, ArrayMetadata array,
              BuffersPtr buffers = std::make_shared<Buffers>());

  /// Writes a shard, in place of the one that is there, from its elements in row-major order. No
  /// chunk is stored that lies wholly in the `absent` elements, which ascend: readers take the fill
  /// value for it. The other absent elements are stored as they are.
  void write(const Extent& index, const std::byte* elements, std::span<const Run> absent = {});

  /// Waits until all shards that were written since the last call are durable.
  void sync();

  const Tally& tally() const { return tally_; }

 private:
  posix::File open(const std::string& path) const;
  std::vector<bool> stored_chunks(std::span<const Run> absent) const;
  const std::byte* in_chunk_order(const std::byte* elements);
  void write_encoded(posix::File& file, const std::byte* line, const std::vector<bool>& stored);
  void write_plain(posix::File& file, const std::byte* line, const std::vector<bool>& stored);
  void put_entry(std::uint64_t offset, std::uint64_t bytes);
  void append_index();

  std::string folder_;
  ArrayMetadata array_;
  ChunkGrid chunks_;  ///< of a shard
  BuffersPtr buffers_;
  std::set<std::string> unsynced_;
  Tally tally_;
};

}  // namespace slabmark::zarr
