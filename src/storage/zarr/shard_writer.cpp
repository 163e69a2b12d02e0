#include "storage/zarr/shard_writer.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <utility>

#include "core/base/path.hpp"

namespace slabmark::zarr {

namespace {

constexpr std::uint64_t no_place = ~std::uint64_t{0};  // the index's word for a missing chunk

/// A scalar counts as one element in one dimension, since a grid has one at least.
ChunkGrid grid_of_shard(const ArrayMetadata& array) {
  return array.shard.empty() ? ChunkGrid({1}, {1}) : ChunkGrid(array.shard, array.chunk);
}

}  // namespace

ShardWriter::ShardWriter(std::string folder, ArrayMetadata array, BuffersPtr buffers)
    : folder_(std::move(folder)),
      array_(std::move(array)),
      chunks_(grid_of_shard(array_)),
      buffers_(std::move(buffers)) {}

// Directories of keys with slashes are made when the first shard in them comes, by whoever is
// first.
posix::File ShardWriter::open(const std::string& path) const {
  if (array_.separator == '/') {
    std::error_code error;
    std::filesystem::create_directories(directory_of(path), error);
  }
  return posix::File::open_or_create(path);
}

std::vector<bool> ShardWriter::stored_chunks(std::span<const Run> absent) const {
  std::vector<std::uint64_t> missing(chunks_.chunks(), 0);
  for (const Run& run : absent) {
    chunks_.for_each_part(run,
                          [&](std::uint64_t chunk, Run part) { missing[chunk] += part.length; });
  }
  std::vector<bool> stored;
  for (const std::uint64_t count : missing) stored.push_back(count < chunks_.chunk_elements());
  return stored;
}

const std::byte* ShardWriter::in_chunk_order(const std::byte* elements) {
  if (chunks_.keeps_order()) return elements;
  const std::size_t size = size_of(array_.type);
  buffers_->line.resize(chunks_.elements() * size);
  chunks_.for_each_run({0, chunks_.elements()}, [&](Run on_line) {
    std::memcpy(buffers_->line.data() + on_line.offset * size, elements, on_line.length * size);
    elements += on_line.length * size;
  });
  return buffers_->line.data();
}

void ShardWriter::put_entry(std::uint64_t offset, std::uint64_t bytes) {
  put_little(buffers_->index, offset);
  put_little(buffers_->index, bytes);
}

void ShardWriter::append_index() {
  if (!array_.is_sharded) return;
  if (array_.index_has_checksum) put_little(buffers_->index, crc32c(buffers_->index));
  buffers_->encoded.insert(buffers_->encoded.end(), buffers_->index.begin(), buffers_->index.end());
}

void ShardWriter::write(const Extent& index, const std::byte* elements,
                        std::span<const Run> absent) {
  const std::vector<bool> stored = stored_chunks(absent);
  const std::string path = folder_ + '/' + key_of(array_, index);
  posix::File file = open(path);
  const std::byte* const line = in_chunk_order(elements);
  buffers_->encoded.clear();
  buffers_->index.clear();
  if (array_.codecs.empty()) {
    write_plain(file, line, stored);
  } else {
    write_encoded(file, line, stored);
  }
  const auto chunks = static_cast<std::uint64_t>(std::count(stored.begin(), stored.end(), true));
  ++tally_.files;
  tally_.chunks += chunks;
  tally_.raw_bytes += chunks * array_.chunk_bytes();
  file.close();
  unsynced_.insert(path);
}

void ShardWriter::write_encoded(posix::File& file, const std::byte* line,
                                const std::vector<bool>& stored) {
  std::vector<std::byte> before, after;
  for (std::size_t chunk = 0; chunk < stored.size(); ++chunk) {
    if (!stored[chunk]) {
      put_entry(no_place, no_place);
      continue;
    }
    const std::uint64_t offset = buffers_->encoded.size();
    std::span<const std::byte> bytes(line + chunk * array_.chunk_bytes(), array_.chunk_bytes());
    for (std::size_t i = 0; i + 1 < array_.codecs.size(); ++i) {
      after.clear();
      encode(array_.codecs[i], bytes, after);
      std::swap(before, after);
      bytes = before;
    }
    encode(array_.codecs.back(), bytes, buffers_->encoded);
    put_entry(offset, buffers_->encoded.size() - offset);
  }
  tally_.stored_bytes += buffers_->encoded.size();
  append_index();
  file.write_at(0, buffers_->encoded.data(), buffers_->encoded.size());
  if (file.size() > buffers_->encoded.size()) file.resize(buffers_->encoded.size());
}

// Chunks go to the file from where they are, those side by side in one call.
void ShardWriter::write_plain(posix::File& file, const std::byte* line,
                              const std::vector<bool>& stored) {
  const std::uint64_t bytes = array_.chunk_bytes();
  std::uint64_t end = 0;
  for (std::size_t chunk = 0; chunk < stored.size();) {
    std::size_t next = chunk;
    while (next < stored.size() && stored[next] == stored[chunk]) ++next;
    for (std::size_t i = chunk; i < next; ++i) {
      const std::uint64_t place = end + (i - chunk) * bytes;
      stored[i] ? put_entry(place, bytes) : put_entry(no_place, no_place);
    }
    if (stored[chunk]) {
      file.write_at(end, line + chunk * bytes, (next - chunk) * bytes);
      end += (next - chunk) * bytes;
    }
    chunk = next;
  }
  tally_.stored_bytes += end;
  append_index();
  file.write_at(end, buffers_->encoded.data(), buffers_->encoded.size());
  end += buffers_->encoded.size();
  if (file.size() > end) file.resize(end);
}

void ShardWriter::sync() {
  std::set<std::string> folders;
  for (const std::string& path : unsynced_) {
    posix::File::open(path, posix::File::Access::read).sync();
    folders.insert(directory_of(path));
  }
  for (const std::string& folder : folders) {
    posix::File::open(folder, posix::File::Access::read).sync();
  }
  unsynced_.clear();
}

}  // namespace slabmark::zarr
