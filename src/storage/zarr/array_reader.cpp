#include "storage/zarr/array_reader.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "storage/zarr/store.hpp"

namespace slabmark::zarr {

namespace {

constexpr std::uint64_t most_kept_bytes = 64u << 20;
constexpr std::uint64_t entry_bytes = 16;
constexpr std::uint64_t absent = ~std::uint64_t{0};

[[noreturn]] void refuse_shard(const std::string& path, const std::string& reason) {
  throw InputError(
      fmt::format("The shard '{}' is damaged: {}; write the store again.", path, reason));
}

/// A box in a row-major array.
struct BoxPlace {
  const Extent& extent;
  const Extent& start;
};

/// Copies a box row by row from one row-major array to another.
void copy_box(const std::byte* from, const BoxPlace& source, std::byte* to, const BoxPlace& target,
              const Extent& count, std::size_t size) {
  Extent at(count.size(), 0);
  const std::size_t rank = count.size();
  if (std::find(count.begin(), count.end(), 0) != count.end()) return;
  const std::uint64_t row = rank == 0 ? 1 : count.back();
  const auto place = [&](const BoxPlace& box) {
    std::uint64_t offset = 0;
    for (std::size_t d = 0; d < rank; ++d) offset = offset * box.extent[d] + box.start[d] + at[d];
    return offset * size;
  };
  for (;;) {
    std::memcpy(to + place(target), from + place(source), row * size);
    std::size_t d = rank < 2 ? 0 : rank - 1;
    while (d > 0 && ++at[d - 1] == count[d - 1]) at[--d] = 0;
    if (d == 0) return;
  }
}

void reverse_bytes(std::byte* elements, std::uint64_t bytes, std::size_t size) {
  for (std::uint64_t at = 0; at < bytes; at += size) {
    std::reverse(elements + at, elements + at + size);
  }
}

/// Visits all indices of a box, row-major.
template <class Visit>
void for_each_index(const Extent& first, const Extent& end, const Visit& visit) {
  Extent at = first;
  for (std::size_t d = 0; d < at.size(); ++d) {
    if (first[d] >= end[d]) return;
  }
  for (;;) {
    visit(at);
    std::size_t d = at.size();
    while (d > 0 && ++at[d - 1] == end[d - 1]) {
      --d;
      at[d] = first[d];
    }
    if (d == 0) return;
  }
}

}  // namespace

ArrayReader::ArrayReader(std::string folder, ArrayMetadata array, BuffersPtr buffers)
    : folder_(std::move(folder)), array_(std::move(array)), buffers_(std::move(buffers)) {}

ArrayReader::ArrayReader(const std::string& folder)
    : ArrayReader(folder, parse_array(read_text(folder + "/zarr.json"), folder + "/zarr.json")) {}

void ArrayReader::fill(std::byte* out, std::uint64_t bytes) const {
  for (std::uint64_t at = 0; at < bytes; at += array_.fill.size()) {
    std::memcpy(out + at, array_.fill.data(), array_.fill.size());
  }
}

bool ArrayReader::read_shard(const Extent& index, std::byte* out) {
  const std::string path = folder_ + '/' + key_of(array_, index);
  std::error_code error;
  if (!std::filesystem::exists(path, error) && !error) {
    fill(out, array_.shard_bytes());
    return false;
  }
  posix::File file = posix::File::open(path, posix::File::Access::read);
  if (array_.is_sharded) {
    read_chunks(file, out);
  } else {
    read_chunk(file, 0, file.size());
    std::memcpy(out, buffers_->decoded.data(), buffers_->decoded.size());
  }
  return true;
}

std::vector<std::byte> ArrayReader::read_index(posix::File& file, std::uint64_t chunks) const {
  const std::uint64_t bytes = chunks * entry_bytes + (array_.index_has_checksum ? 4 : 0);
  const std::uint64_t size = file.size();
  if (size / entry_bytes < chunks || size < bytes) {
    refuse_shard(file.path(), "it is shorter than its index");
  }
  std::vector<std::byte> index(bytes);
  file.read_at(array_.index_at_end ? size - bytes : 0, index.data(), bytes);
  if (array_.index_has_checksum) {
    const auto entries = std::span<const std::byte>(index).first(chunks * entry_bytes);
    if (crc32c(entries) != little_at<std::uint32_t>(index.data() + entries.size())) {
      refuse_shard(file.path(), "its index does not match its checksum");
    }
  }
  return index;
}

void ArrayReader::read_chunks(posix::File& file, std::byte* out) {
  Extent counts;
  for (std::size_t d = 0; d < array_.chunk.size(); ++d) {
    counts.push_back(array_.shard[d] / array_.chunk[d]);
  }
  const Extent origin(counts.size(), 0);
  const std::vector<std::byte> index = read_index(file, element_count(counts));
  const std::byte* entry = index.data();
  for_each_index(origin, counts, [&](const Extent& at) {
    const auto offset = little_at<std::uint64_t>(entry);
    const auto bytes = little_at<std::uint64_t>(entry + entry_bytes / 2);
    entry += entry_bytes;
    if (offset == absent && bytes == absent) {
      buffers_->decoded.resize(array_.chunk_bytes());
      fill(buffers_->decoded.data(), buffers_->decoded.size());
    } else {
      read_chunk(file, offset, bytes);
    }
    Extent start = at;
    for (std::size_t d = 0; d < start.size(); ++d) start[d] *= array_.chunk[d];
    copy_box(buffers_->decoded.data(), {array_.chunk, origin}, out, {array_.shard, start},
             array_.chunk, size_of(array_.type));
  });
}

void ArrayReader::read_chunk(posix::File& file, std::uint64_t offset, std::uint64_t bytes) {
  const std::uint64_t size = file.size();
  if (offset > size || bytes > size - offset) {
    refuse_shard(file.path(), "a chunk lies beyond its end");
  }
  constexpr std::uint64_t checksums = 64;  // bytes that codecs before the last may have added
  buffers_->decoded.resize(bytes);
  file.read_at(offset, buffers_->decoded.data(), bytes);
  for (auto codec = array_.codecs.rbegin(); codec != array_.codecs.rend(); ++codec) {
    std::swap(buffers_->encoded, buffers_->decoded);
    decode(*codec, buffers_->encoded, array_.chunk_bytes() + checksums,
           fmt::format("The shard '{}'", file.path()), buffers_->decoded);
  }
  if (buffers_->decoded.size() != array_.chunk_bytes()) {
    refuse_shard(file.path(), fmt::format("a chunk has {} bytes instead of {}",
                                          buffers_->decoded.size(), array_.chunk_bytes()));
  }
  const bool machine_is_little_endian = std::endian::native == std::endian::little;
  if (array_.is_little_endian != machine_is_little_endian) {
    reverse_bytes(buffers_->decoded.data(), buffers_->decoded.size(), size_of(array_.type));
  }
}

const std::byte* ArrayReader::kept_shard(const Extent& index) {
  const auto found = kept_.find(index);
  if (found != kept_.end()) return found->second.data();
  if ((kept_.size() + 1) * array_.shard_bytes() > most_kept_bytes) kept_.clear();
  std::vector<std::byte> shard(array_.shard_bytes());
  read_shard(index, shard.data());
  return kept_.emplace(index, std::move(shard)).first->second.data();
}

void ArrayReader::read(const Extent& start, const Extent& count, std::byte* out) {
  const std::size_t rank = array_.shape.size();
  Extent first(rank), end(rank);
  for (std::size_t d = 0; d < rank; ++d) {
    if (start[d] > array_.shape[d] || count[d] > array_.shape[d] - start[d]) {
      throw InputError(fmt::format("'{}' has the shape {}, in which {} from {} does not lie.",
                                   folder_, to_string(array_.shape), to_string(count),
                                   to_string(start)));
    }
    if (count[d] == 0) return;
    first[d] = start[d] / array_.shard[d];
    end[d] = (start[d] + count[d] - 1) / array_.shard[d] + 1;
  }
  for_each_index(first, end, [&](const Extent& index) {
    Extent in_shard(rank), in_box(rank), size(rank);
    for (std::size_t d = 0; d < rank; ++d) {
      const std::uint64_t begin = std::max(start[d], index[d] * array_.shard[d]);
      size[d] = std::min(start[d] + count[d], (index[d] + 1) * array_.shard[d]) - begin;
      in_shard[d] = begin - index[d] * array_.shard[d];
      in_box[d] = begin - start[d];
    }
    copy_box(kept_shard(index), {array_.shard, in_shard}, out, {count, in_box}, size,
             size_of(array_.type));
  });
}

}  // namespace slabmark::zarr
