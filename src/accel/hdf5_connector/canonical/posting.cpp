#include "accel/hdf5_connector/canonical/posting.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "collective/exchange/chunk_order.hpp"

namespace slabmark::slablog {

ArrayName name_of(const CanonicalDataset& dataset) {
  const auto part = dataset.part_bytes();
  if (dataset.in_chunks()) {
    return {1, dataset.number(), part, dataset.grid.elements(), dataset.grid.chunk_elements()};
  }
  return {0, *dataset.address, part, element_count(dataset.extent()) * dataset.parts(), 0};
}

Posting::Posting(CanonicalDataset& dataset, const std::byte* spilled)
    : array(name_of(dataset)),
      fresh(dataset.fresh),
      grid(dataset.in_chunks() ? &dataset.grid : nullptr) {
  if (const auto& post = dataset.only_post(); post.runs) {
    runs = post.runs;
    scale = dataset.parts();
    data = post.data;
  } else {
    add_pieces(dataset, spilled);
  }
}

Posting::Posting(const CanonicalDataset& dataset, RunsPtr wanted, std::byte* memory)
    : array(name_of(dataset)),
      grid(dataset.in_chunks() ? &dataset.grid : nullptr),
      runs(std::move(wanted)),
      scale(dataset.parts()),
      data(memory) {}

void Posting::add_pieces(CanonicalDataset& dataset, const std::byte* spilled) {
  const auto part = dataset.part_bytes();
  const auto parts = dataset.parts();
  const auto address_of = [&](const LogRun& run) {
    return run.source == in_memory ? run.position
                                   : reinterpret_cast<std::uintptr_t>(spilled) + run.position;
  };
  auto lowest = std::numeric_limits<std::uint64_t>::max();
  dataset.for_each_pending(1, [&](const LogRuns& pending) {
    for (const auto& run : pending) {
      const auto address = address_of(run);
      lowest = std::min(lowest, address);
      // Memory and spill file keep to multiples of the part: see DataFile::spill(). Which calls
      // wrote runs that touch does not matter any more.
      append(pieces, {run.offset * parts, address / part, run.length * parts});
    }
  });
  data = reinterpret_cast<const std::byte*>(lowest);
  for (auto& piece : pieces) piece.buffer -= lowest / part;
  if (grid != nullptr) pieces = in_chunk_order(pieces, *grid);
}

}  // namespace slabmark::slablog
