#include "accel/hdf5_connector/canonical/chunk_file.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace slabmark::slablog {

ChunkFile::Found ChunkFile::find(const FilteredChunk& chunk) const {
  const auto& [offset, dataset] = *std::prev(datasets_.upper_bound(chunk.place));
  const auto& pipeline = *dataset->pipeline;
  const auto number = (chunk.place - offset) / pipeline.chunk_bytes();
  auto first = dataset->grid.first_element(number);
  first.back() /= dataset->parts();
  const bool filtered =
      pipeline.has_filters() && (pipeline.filters_edges() || !dataset->grid.reaches_beyond(number));
  return {*dataset, std::move(first), filtered};
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
    struct Entered {
      FilteredChunk* first = nullptr;
      std::size_t chunks = 0;
    };
    std::map<std::uint64_t, Entered> with_filters;  // by number, in one order on all ranks
    for (auto& chunk : all) {
      const auto& dataset = find(chunk).dataset;
      if (!dataset.has_filters()) continue;
      auto& known = with_filters[dataset.number()];
      if (known.chunks++ == 0) known.first = &chunk;
    }
    for (auto& chunk : all) {
      const auto known = with_filters.find(find(chunk).dataset.number());
      if (known != with_filters.end() && known->second.chunks == 1) {
        enter_alone(chunk);
      } else {
        enter(chunk);
      }
    }
    for (const auto& [number, known] : with_filters) {
      if (known.chunks == 1) continue;
      enter(*known.first);
      find(*known.first).dataset.misread.reset();
    }
  });
}

void ChunkFile::enter(FilteredChunk& chunk) {
  const auto its = find(chunk);
  chunk.address = allocate_chunk(its.dataset.under, its.dataset.connector,
                                 {its.first, chunk.bytes, static_cast<std::uint32_t>(chunk.mask)});
}

void ChunkFile::enter_alone(FilteredChunk& chunk) {
  const auto [dataset, first, filtered] = find(chunk);
  const auto before = stored_chunk(dataset.under, dataset.connector, first);
  enter(chunk);
  const bool again = dataset.misread && dataset.misread->first == first;
  dataset.misread.reset();
  const auto mask = static_cast<std::uint32_t>(chunk.mask);
  // HDF5 remembers no mask of a chunk that is in its cache.
  if (filtered && (again || (before && before->mask != 0) || mask != 0)) {
    dataset.misread = {first, chunk.bytes, mask, chunk.address};
  }
}

}  // namespace slabmark::slablog
