#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/geometry/chunk_grid.hpp"
#include "core/geometry/dataset.hpp"
#include "storage/zarr/array_reader.hpp"
#include "storage/zarr/shard_writer.hpp"

namespace slabmark {

/// A dataset in a Zarr store, whose shards are written and read whole.
class StoredArray {
 public:
  /// `dataset` outlives it.
  StoredArray(const Dataset& dataset, const std::string& folder, const zarr::ArrayMetadata& array,
              const zarr::BuffersPtr& buffers);

  const ChunkGrid& shards() const { return shards_; }  ///< of one time step
  std::uint64_t steps() const;
  std::uint64_t element_bytes() const { return size_of(reader_.array().type); }
  std::uint64_t shard_bytes() const { return shards_.chunk_elements() * element_bytes(); }

  bool has_codecs() const { return !reader_.array().codecs.empty(); }

  /// The index in the array of a shard of a step, and its file.
  Extent index_of(std::uint64_t time, std::uint64_t shard) const;
  std::string path_of(const Extent& index) const;

  void read(const Extent& index, std::byte* memory) { reader_.read_shard(index, memory); }

  /// Writes a shard. The elements that are `missing` in memory are taken from the shard that
  /// `may_be_there`, or have the fill value.
  void write(const Extent& index, std::byte* memory, std::span<const Run> missing,
             bool may_be_there);
  void sync() { writer_.sync(); }
  const zarr::ShardWriter::Tally& tally() const { return writer_.tally(); }

 private:
  const Dataset& dataset_;
  ChunkGrid shards_;
  std::string folder_;
  zarr::ShardWriter writer_;
  zarr::ArrayReader reader_;
  zarr::BuffersPtr buffers_;
};

}  // namespace slabmark
