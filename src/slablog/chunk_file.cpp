#include "slablog/chunk_file.hpp"

#include <algorithm>
#include <iterator>
#include <vector>

namespace slabmark::slablog {

std::pair<const Chunked*, std::vector<hsize_t>> ChunkFile::find(const FilteredChunk& chunk) const {
  const auto& [offset, dataset] = *std::prev(datasets_.upper_bound(chunk.place));
  const auto number = (chunk.place - offset) / dataset.pipeline->chunk_bytes();
  auto first = dataset.grid->first_element(number);
  first.back() /= dataset.parts;
  return {&dataset, {first.begin(), first.end()}};
}

// All ask for all chunks: where metadata is read collectively, as netCDF-4 wants it, no rank may
// ask alone.
void ChunkFile::look_up(std::vector<FilteredChunk>& chunks) {
  by_all(comm_, chunks, [&](std::span<FilteredChunk> all) {
    for (auto& chunk : all) {
      const auto [dataset, first] = find(chunk);
      const auto found = stored_chunk(dataset->under, dataset->connector, first);
      if (found) chunk = {chunk.place, found->address, found->bytes, found->mask};
    }
  });
}

// A chunk that has space, but was never filled, may lie behind what was written so far.
void ChunkFile::read(std::uint64_t address, std::byte* memory, std::uint64_t bytes) {
  const auto end = std::max(address, std::min(file_.size(), address + bytes));
  file_.read_at(address, memory, end - address);
  std::fill(memory + (end - address), memory + bytes, std::byte{0});
}

// HDF5 2.2.0 goes on reading the chunk that was entered last by the mask that it had before
// (tests/hdf5_faults/mask_cached.c). One that is in the index with its size already is right, so
// the first is entered once more.
void ChunkFile::allocate(std::vector<FilteredChunk>& chunks) {
  by_all(comm_, chunks, [&](std::span<FilteredChunk> all) {
    const Chunked* entered = nullptr;
    FilteredChunk* first = nullptr;
    FilteredChunk* last = nullptr;
    const auto complete = [&] {
      if (first != last && entered->pipeline->has_filters()) enter(*first);
    };
    for (auto& chunk : all) {
      const Chunked* const dataset = enter(chunk);
      if (dataset != entered) {
        complete();
        entered = dataset;
        first = &chunk;
      }
      last = &chunk;
    }
    complete();
  });
}

const Chunked* ChunkFile::enter(FilteredChunk& chunk) {
  const auto [dataset, first] = find(chunk);
  chunk.address = allocate_chunk(dataset->under, dataset->connector, first, chunk.bytes,
                                 static_cast<std::uint32_t>(chunk.mask));
  return dataset;
}

}  // namespace slabmark::slablog
