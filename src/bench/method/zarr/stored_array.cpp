#include "bench/method/zarr/stored_array.hpp"

#include <cstring>

namespace slabmark {

namespace {

ChunkGrid shards_of_step(const zarr::ArrayMetadata& array, const Dataset& dataset) {
  if (dataset.dimensions.empty()) return ChunkGrid({1}, {1});
  const Extent shard(array.shard.begin() + (dataset.has_time ? 1 : 0), array.shard.end());
  return ChunkGrid(dataset.extent(), shard);
}

}  // namespace

StoredArray::StoredArray(const Dataset& dataset, const std::string& folder,
                         const zarr::ArrayMetadata& array, const zarr::BuffersPtr& buffers)
    : dataset_(dataset),
      shards_(shards_of_step(array, dataset)),
      folder_(folder),
      writer_(folder, array, buffers),
      reader_(folder, array, buffers),
      buffers_(buffers) {}

std::uint64_t StoredArray::steps() const {
  return dataset_.has_time ? reader_.array().shape.front() : 1;
}

Extent StoredArray::index_of(std::uint64_t time, std::uint64_t shard) const {
  Extent index;
  if (dataset_.has_time) index.push_back(time);
  if (dataset_.dimensions.empty()) return index;
  const Extent first = shards_.first_element(shard);
  for (std::size_t d = 0; d < first.size(); ++d) index.push_back(first[d] / shards_.chunk()[d]);
  return index;
}

std::string StoredArray::path_of(const Extent& index) const {
  return folder_ + '/' + zarr::key_of(reader_.array(), index);
}

void StoredArray::write(const Extent& index, std::byte* memory, std::span<const Run> missing,
                        bool may_be_there) {
  if (missing.empty()) return writer_.write(index, memory);
  std::vector<std::byte>& before = buffers_->line;
  before.resize(shard_bytes());
  const bool was_there = may_be_there && reader_.read_shard(index, before.data());
  if (!was_there) reader_.fill(before.data(), before.size());
  for (const Run& run : missing) {
    const std::uint64_t begin = run.offset * element_bytes();
    std::memcpy(memory + begin, before.data() + begin, run.length * element_bytes());
  }
  writer_.write(index, memory, was_there ? std::span<const Run>() : missing);
}

}  // namespace slabmark
