#include "collective/filters/filtered_flush.hpp"

#include <algorithm>
#include <cstring>

#include "core/base/error.hpp"
#include "core/base/stopwatch.hpp"
#include "core/parallel/agree.hpp"

namespace slabmark {

namespace {

constexpr std::uint64_t largest_write = std::uint64_t{1} << 30;  // MPI counts in int
constexpr std::uint64_t block_bytes = 4u << 20;  // a call of writing takes as long as copying 16 KB

void fill(std::byte* memory, std::uint64_t bytes, std::span<const std::byte> value) {
  for (std::uint64_t at = 0; at < bytes; at += value.size()) {
    std::memcpy(memory + at, value.data(), value.size());
  }
}

}  // namespace

FilteredFlush::Chunk FilteredFlush::chunk_at(std::span<const FilteredArray> arrays,
                                             std::uint64_t place) {
  const auto after = std::upper_bound(
      arrays.begin(), arrays.end(), place,
      [](std::uint64_t wanted, const FilteredArray& array) { return wanted < array.offset; });
  const FilteredArray& array = *(after - 1);
  return {array, (place - array.offset) / array.pipeline->chunk_bytes()};
}

// Finds chunks in this rank's range of which some rank has an element.
std::vector<FilteredChunk> FilteredFlush::chunks_of_mine(const Rearranger& rearranger,
                                                         const Rearranger::Flush& flush,
                                                         std::span<const FilteredArray> arrays,
                                                         Wanted wanted) const {
  std::vector<FilteredChunk> mine;
  const auto& aggregators = rearranger.aggregators();
  const auto me = static_cast<std::size_t>(
      std::find(aggregators.begin(), aggregators.end(), comm_.rank()) - aggregators.begin());
  if (me == aggregators.size()) return mine;
  for (const Run& extent : flush.plan.extents(me)) {
    for (const FileDomain::Part& part : flush.domain.parts_in(extent.offset, extent.end())) {
      const ArrayPlace& place = flush.domain.arrays()[part.array].place;
      if (place.unit == 0 || (wanted == Wanted::incomplete && flush.fresh[part.array])) continue;
      const FilteredArray& array = chunk_at(arrays, place.offset).array;
      if (wanted == Wanted::plain && array.pipeline->has_filters()) continue;
      for (auto begin = part.elements.offset; begin < part.elements.end(); begin += place.unit) {
        std::uint64_t covered = 0;
        flush.plan.for_each_covered(part.array, {begin, place.unit},
                                    [&](Run run) { covered += run.length; });
        if (covered == 0) continue;
        const std::uint64_t number = begin / place.unit;
        if (wanted == Wanted::incomplete && covered == array.grid->elements_in_array(number)) {
          continue;
        }
        const std::uint64_t bytes = wanted == Wanted::plain ? array.pipeline->chunk_bytes() : 0;
        mine.push_back({place.offset + begin * place.element_bytes, 0, bytes, 0});
      }
    }
  }
  return mine;
}

const FilteredChunk* FilteredFlush::find(const std::vector<FilteredChunk>& chunks,
                                         std::uint64_t place) {
  const auto found = std::lower_bound(
      chunks.begin(), chunks.end(), place,
      [](const FilteredChunk& chunk, std::uint64_t wanted) { return chunk.place < wanted; });
  const bool is_there = found != chunks.end() && found->place == place && found->bytes > 0;
  return is_there ? &*found : nullptr;
}

bool FilteredFlush::is_filtered(const Chunk& chunk) const {
  return chunk.array.pipeline->filters_edges() || !chunk.array.grid->reaches_beyond(chunk.number);
}

void FilteredFlush::load(const Chunk& chunk, const FilteredChunk& stored, std::byte* memory) {
  stored_.resize(stored.bytes);
  store_.read(stored.address, stored_.data(), stored.bytes);
  const Stopwatch watch(tally_.filters);
  const std::uint32_t all_left_out = ~std::uint32_t{0};
  chunk.array.pipeline->undo(
      stored_, is_filtered(chunk) ? static_cast<std::uint32_t>(stored.mask) : all_left_out, memory);
}

void FilteredFlush::complete(const Chunk& chunk, std::uint64_t place, std::byte* memory,
                             std::span<const Run> missing) {
  hdf5::FilterPipeline& pipeline = *chunk.array.pipeline;
  const auto element_bytes = pipeline.chunk_bytes() / chunk.array.grid->chunk_elements();
  const FilteredChunk* const held = find(known_, place);
  if (held != nullptr) {
    before_.resize(pipeline.chunk_bytes());
    load(chunk, *held, before_.data());
  }
  for (const Run& run : missing) {
    const auto at = run.offset * element_bytes;
    const auto bytes = run.length * element_bytes;
    if (held != nullptr) {
      std::memcpy(memory + at, before_.data() + at, bytes);
    } else {
      fill(memory + at, bytes, pipeline.fill());
    }
  }
}

bool FilteredFlush::write_plain(std::uint64_t place, std::byte* memory) {
  const FilteredChunk* const chunk = find(plain_, place);
  if (chunk == nullptr) return false;
  store_.write(chunk->address, memory, chunk->bytes);
  ++tally_.chunks;
  tally_.raw_bytes += chunk->bytes;
  tally_.stored_bytes += chunk->bytes;
  return true;
}

void FilteredFlush::filter(const Chunk& chunk, std::uint64_t place, const std::byte* memory) {
  const Stopwatch watch(tally_.filters);
  hdf5::FilterPipeline& pipeline = *chunk.array.pipeline;
  hdf5::FilterPipeline::Filtered made;
  std::byte* kept = nullptr;
  if (is_filtered(chunk)) {
    made = pipeline.apply(memory, [&](std::size_t bytes) { return kept = room_for(bytes); });
  } else {
    kept = room_for(pipeline.chunk_bytes());
    std::copy_n(memory, pipeline.chunk_bytes(), kept);
    made.bytes = {kept, pipeline.chunk_bytes()};
  }
  filtered_.push_back(kept);
  chunks_.push_back({place, 0, made.bytes.size(), made.mask});
  ++tally_.chunks;
  tally_.raw_bytes += pipeline.chunk_bytes();
  tally_.stored_bytes += made.bytes.size();
}

std::byte* FilteredFlush::room_for(std::uint64_t bytes) {
  if (blocks_.empty()) blocks_.emplace_back();
  if (used_ + bytes > blocks_[block_].size()) {
    if (used_ > 0 && ++block_ == blocks_.size()) blocks_.emplace_back();
    blocks_[block_].fit(std::max(block_bytes, bytes));
    used_ = 0;
  }
  std::byte* const room = blocks_[block_].data() + used_;
  used_ += bytes;
  return room;
}

Rearranger::Tally FilteredFlush::write(Rearranger& rearranger, const Rearranger::Flush& flush,
                                       std::span<const FilteredArray> arrays,
                                       const Rearranger::FileAccess& access) {
  known_ = chunks_of_mine(rearranger, flush, arrays, Wanted::incomplete);
  store_.look_up(known_);
  // Chunks without filters keep their length, and so their place.
  plain_ = chunks_of_mine(rearranger, flush, arrays, Wanted::plain);
  store_.allocate(plain_);
  chunks_.clear();
  filtered_.clear();
  first_failure_ = nullptr;
  block_ = 0;
  used_ = 0;
  Rearranger::Tally took;
  agreed(comm_, [&] {
    took = rearranger.write(
        flush, access, [&](std::uint64_t place, std::byte* memory, std::span<const Run> missing) {
          const Chunk chunk = chunk_at(arrays, place);
          try {
            if (!missing.empty()) complete(chunk, place, memory, missing);
            if (!write_plain(place, memory)) filter(chunk, place, memory);
          } catch (const IoError&) {  // all others go on
            if (!first_failure_) first_failure_ = std::current_exception();
          }
        });
  });
  double allocation = 0.0;
  timed(allocation, [&] { store_.allocate(chunks_); });
  tally_.allocation += allocation;
  took.wait += allocation;
  agreed(comm_, [&] {
    const Stopwatch watch(took.file);
    write_filtered();
    if (first_failure_) std::rethrow_exception(first_failure_);
  });
  return took;
}

// Chunks that got space side by side, and are so in memory, go down together.
void FilteredFlush::write_filtered() {
  for (std::size_t i = 0; i < chunks_.size();) {
    const std::uint64_t address = chunks_[i].address;
    std::byte* const memory = filtered_[i];
    std::uint64_t bytes = chunks_[i++].bytes;
    while (i < chunks_.size() && chunks_[i].address == address + bytes &&
           filtered_[i] == memory + bytes && bytes + chunks_[i].bytes <= largest_write) {
      bytes += chunks_[i++].bytes;
    }
    store_.write(address, memory, bytes);
  }
}

Rearranger::Tally FilteredFlush::read(Rearranger& rearranger, const Rearranger::Flush& flush,
                                      std::span<const FilteredArray> arrays,
                                      const Rearranger::FileAccess& access) {
  known_ = chunks_of_mine(rearranger, flush, arrays, Wanted::all);
  store_.look_up(known_);
  Rearranger::Tally took;
  agreed(comm_, [&] {
    took = rearranger.read(
        flush, access, [&](std::uint64_t place, std::byte* memory, std::span<const Run>) {
          const Chunk chunk = chunk_at(arrays, place);
          const FilteredChunk* const held = find(known_, place);
          if (held == nullptr) {
            fill(memory, chunk.array.pipeline->chunk_bytes(), chunk.array.pipeline->fill());
            return;
          }
          load(chunk, *held, memory);
          ++tally_.chunks;
          tally_.raw_bytes += chunk.array.pipeline->chunk_bytes();
          tally_.stored_bytes += held->bytes;
        });
  });
  return took;
}

}  // namespace slabmark
