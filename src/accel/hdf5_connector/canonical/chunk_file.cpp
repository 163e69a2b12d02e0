#include "accel/hdf5_connector/canonical/chunk_file.hpp"

#include <algorithm>
#include <iterator>
#include <vector>

namespace slabmark::slablog {

ChunkFile::Found ChunkFile::find(const FilteredChunk& chunk) const {
  const auto& [offset, dataset] = *std::prev(datasets_.upper_bound(chunk.place));
  const auto number = (chunk.place - offset) / dataset.pipeline->chunk_bytes();
  auto first = dataset.grid->first_element(number);
  first.back() /= dataset.parts;
  const bool filtered = dataset.pipeline->has_filters() && (dataset.pipeline->filters_edges() ||
                                                            !dataset.grid->reaches_beyond(number));
  return {offset, dataset, {first.begin(), first.end()}, filtered};
}

// All ask for all chunks: where metadata is read collectively, as netCDF-4 wants it, no rank may
// ask alone.
void ChunkFile::look_up(std::vector<FilteredChunk>& chunks) {
  by_all(comm_, chunks, [&](std::span<FilteredChunk> all) {
    for (auto& chunk : all) {
      const auto its = find(chunk);
      const auto found = stored_chunk(its.dataset.under, its.dataset.connector, its.first);
      if (found) chunk = {chunk.place, found->address + left_out_, found->bytes, found->mask};
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
// the first is entered once more. Where it is the only one nothing makes HDF5 forget that mask
// until the dataset is closed.
void ChunkFile::allocate(std::vector<FilteredChunk>& chunks) {
  by_all(comm_, chunks, [&](std::span<FilteredChunk> all) {
    struct OfDataset {
      FilteredChunk* first = nullptr;
      std::size_t chunks = 0;
    };
    std::map<std::uint64_t, OfDataset> with_filters;  // by offset
    for (auto& chunk : all) {
      const auto found = find(chunk);
      if (!found.dataset.pipeline->has_filters()) continue;
      auto& known = with_filters[found.offset];
      if (known.chunks++ == 0) known.first = &chunk;
    }
    for (auto& chunk : all) {
      const auto known = with_filters.find(find(chunk).offset);
      if (known != with_filters.end() && known->second.chunks == 1) {
        enter_alone(chunk);
      } else {
        enter(chunk);
      }
    }
    for (auto& [offset, known] : with_filters) {
      if (known.chunks == 1) continue;
      enter(*known.first);
      datasets_.at(offset).misread->reset();
    }
  });
}

void ChunkFile::enter(FilteredChunk& chunk) {
  const auto its = find(chunk);
  chunk.address = allocate_chunk(its.dataset.under, its.dataset.connector, its.first, chunk.bytes,
                                 static_cast<std::uint32_t>(chunk.mask));
}

void ChunkFile::enter_alone(FilteredChunk& chunk) {
  const auto [offset, dataset, first, filtered] = find(chunk);
  const auto before = stored_chunk(dataset.under, dataset.connector, first);
  enter(chunk);
  const bool again = *dataset.misread && (*dataset.misread)->first == first;
  dataset.misread->reset();
  const auto mask = static_cast<std::uint32_t>(chunk.mask);
  // Of one that is in its cache HDF5 remembers none.
  if (filtered && (again || (before && before->mask != 0) || mask != 0)) {
    *dataset.misread = MisreadChunk{first, {chunk.address, chunk.bytes, mask}};
  }
}

}  // namespace slabmark::slablog
