#include "bench/map/map_source.hpp"

#include <fmt/format.h>

namespace slabmark {

MapSource source_of(PioText text) {
  const auto shared = std::make_shared<const PioText>(std::move(text));
  return {.name = fmt::format("\"{}\"", shared->path),
          .dims = shared->dims,
          .ranks = shared->ranks(),
          .row = [shared](std::uint64_t rank) { return read_pio_row(*shared, rank).runs; }};
}

MapSource source_of(SyntheticMap map) {
  return {.name = map.name, .dims = map.dims, .ranks = map.ranks, .row = [map](std::uint64_t rank) {
            return model_order_runs(map, rank);
          }};
}

MapSource source_of(std::shared_ptr<MapFile> file, std::size_t k) {
  const MapHeader& header = file->maps().at(k);
  const std::uint64_t ranks = header.recorded_ranks;
  return {.name = fmt::format("map {} of \"{}\"", k + 1, file->path()),
          .dims = header.array_dims(),
          .ranks = ranks,
          .row = [file, k, ranks](std::uint64_t rank) {
            return file->read(k, static_cast<int>(rank), static_cast<int>(ranks)).runs;
          }};
}

}  // namespace slabmark
