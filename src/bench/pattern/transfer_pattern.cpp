#include "bench/pattern/transfer_pattern.hpp"

#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/error.hpp"

namespace slabmark {

namespace {

constexpr auto most_bytes = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());

bool is_emulated(TransferStorage storage) {
  return storage == TransferStorage::emulated ||
         storage == TransferStorage::emulated_in_chunk_order;
}

void require_size(std::uint64_t size, std::string_view what) {
  if (size == 0) throw InputError(fmt::format("The {} is 0; give at least 1 byte.", what));
}

/// `what` is, for example, "transfer buffer size".
void require_multiple(std::uint64_t number, std::string_view what, std::uint64_t of,
                      std::string_view of_what) {
  if (number % of == 0) return;
  throw InputError(
      fmt::format("The {} {} is not a multiple of the {} {}; choose sizes that divide one another.",
                  what, number, of_what, of));
}

void require_addressable(const TransferGeometry& geometry, std::uint64_t ranks) {
  std::uint64_t side = 0;
  std::uint64_t bytes = 0;
  bool too_large = __builtin_mul_overflow(geometry.bytes, ranks, &side);
  too_large |= __builtin_mul_overflow(side, geometry.two_dimensional ? side : 1, &bytes);
  too_large |= __builtin_mul_overflow(bytes, geometry.datasets, &bytes);
  if (!too_large && bytes <= most_bytes) return;
  throw InputError(fmt::format(
      "{} bytes per process on {} processes make datasets beyond 2^63 bytes{}; use "
      "fewer.",
      geometry.bytes, ranks,
      geometry.two_dimensional ? ", since a 2-D dataset is a square of that side" : ""));
}

std::uint64_t side_of(const TransferGeometry& geometry, std::uint64_t ranks) {
  return geometry.bytes * ranks;
}

Hyperslab request_1d(const TransferGeometry& g, std::uint64_t rank, std::uint64_t ranks,
                     std::uint64_t request) {
  if (!g.interleaved) return make_box({rank * g.bytes + request * g.buffer}, {g.buffer});
  return {{rank * g.block + request * g.buffer * ranks},
          {g.block * ranks},
          {g.buffer / g.block},
          {g.block}};
}

/// Row and column of the first element of a 2-D request.
std::pair<std::uint64_t, std::uint64_t> corner(const TransferGeometry& g, std::uint64_t rank,
                                               std::uint64_t ranks, std::uint64_t request) {
  const std::uint64_t side = side_of(g, ranks);
  if (g.interleaved) {
    const std::uint64_t swept = request * g.block * ranks;
    return {g.buffer * (swept / side), rank * g.block + swept % side};
  }
  const std::uint64_t swept = request * g.buffer;
  return {rank * g.bytes + g.block * (swept / side), swept % side};
}

Extent shape_of_request(const TransferGeometry& g) {
  return g.interleaved ? Extent{g.buffer, g.block} : Extent{g.block, g.buffer};
}

Hyperslab request_2d(const TransferGeometry& g, std::uint64_t rank, std::uint64_t ranks,
                     std::uint64_t request) {
  const auto [row, column] = corner(g, rank, ranks, request);
  const Extent shape = shape_of_request(g);
  if (!is_emulated(g.storage)) return make_box({row, column}, shape);
  return make_box({row / g.block, column / g.block, 0, 0},
                  {shape[0] / g.block, shape[1] / g.block, g.block, g.block});
}

/// The chunks of a row-major buffer, in the order in which they lie in the file. Null where that is
/// the order of the buffer itself.
SelectionPtr chunks_of_buffer(const TransferGeometry& g) {
  const bool row_of_chunks = !g.interleaved && g.buffer > g.block;
  if (g.storage != TransferStorage::emulated || !g.two_dimensional || !row_of_chunks)
    return nullptr;
  return select_generated(shape_of_request(g), g.buffer / g.block,
                          [block = g.block](std::uint64_t chunk, Hyperslab& slab) {
                            slab = make_box({0, chunk * block}, {block, block});
                          });
}

Dataset make_dataset(const TransferGeometry& g, std::uint64_t ranks, std::uint64_t number) {
  Dataset dataset;
  dataset.name = fmt::format("Dataset_{}", number + 1);
  dataset.type = ElementType::uint8;
  const std::uint64_t side = side_of(g, ranks);
  if (!g.two_dimensional) {
    dataset.dimensions = {{"byte", side}};
  } else if (is_emulated(g.storage)) {
    dataset.dimensions = {{"chunk_row", side / g.block},
                          {"chunk_column", side / g.block},
                          {"row", g.block},
                          {"column", g.block}};
  } else {
    dataset.dimensions = {{"row", side}, {"column", side}};
  }
  if (g.storage == TransferStorage::chunked) {
    dataset.chunk = Extent(dataset.dimensions.size(), g.block);
  }
  return dataset;
}

std::string_view name_of(TransferStorage storage) {
  switch (storage) {
    case TransferStorage::contiguous:
      return "contiguous";
    case TransferStorage::chunked:
      return "chunked";
    case TransferStorage::emulated:
      return "emulated chunks";
    case TransferStorage::emulated_in_chunk_order:
      return "emulated chunks, buffer in chunk order";
  }
  return "unknown";
}

std::map<std::string, std::string> settings_of(const TransferGeometry& g) {
  return {{"bytes", std::to_string(g.bytes)},
          {"block", std::to_string(g.block)},
          {"buffer", std::to_string(g.buffer)},
          {"pattern", g.interleaved ? "interleaved" : "contiguous"},
          {"dimensions", g.two_dimensional ? "2" : "1"},
          {"storage", std::string(name_of(g.storage))}};
}

}  // namespace

void check(const TransferGeometry& geometry, std::uint64_t ranks) {
  require_size(geometry.bytes, "number of bytes per process per dataset");
  require_size(geometry.block, "block size");
  require_size(geometry.buffer, "transfer buffer size");
  if (geometry.datasets == 0) throw InputError("There are 0 datasets; give at least 1.");
  require_addressable(geometry, ranks);
  require_multiple(geometry.buffer, "transfer buffer size", geometry.block, "block size");
  constexpr std::string_view bytes = "number of bytes per process per dataset";
  if (!geometry.two_dimensional) {
    require_multiple(geometry.bytes, bytes, geometry.buffer, "transfer buffer size");
    return;
  }
  require_multiple(geometry.bytes, bytes, geometry.block, "2-D block size");
  require_multiple(side_of(geometry, ranks),
                   fmt::format("side of the 2-D dataset of {} processes,", ranks), geometry.buffer,
                   "transfer buffer size");
}

std::uint64_t dataset_bytes(const TransferGeometry& geometry, std::uint64_t ranks) {
  const std::uint64_t side = side_of(geometry, ranks);
  return geometry.two_dimensional ? side * side : side;
}

std::uint64_t request_bytes(const TransferGeometry& geometry) {
  return geometry.two_dimensional ? geometry.block * geometry.buffer : geometry.buffer;
}

std::uint64_t requests_per_dataset(const TransferGeometry& geometry, std::uint64_t ranks) {
  return dataset_bytes(geometry, ranks) / ranks / request_bytes(geometry);
}

Pattern make_transfer_pattern(const TransferGeometry& geometry, std::uint64_t rank,
                              std::uint64_t ranks) {
  check(geometry, ranks);
  Pattern pattern;
  pattern.name = "transfer";
  pattern.settings = settings_of(geometry);
  for (std::uint64_t d = 0; d < geometry.datasets; ++d) {
    pattern.datasets.push_back(make_dataset(geometry, ranks, d));
  }
  const std::uint64_t requests = requests_per_dataset(geometry, ranks);
  pattern.rounds = geometry.datasets * requests;
  pattern.transfers = [geometry, rank, ranks, requests, extent = pattern.datasets.front().extent(),
                       buffer = chunks_of_buffer(geometry)](std::uint64_t round) {
    const std::uint64_t request = round % requests;
    auto slab = geometry.two_dimensional ? request_2d(geometry, rank, ranks, request)
                                         : request_1d(geometry, rank, ranks, request);
    return std::vector<Transfer>{
        {round / requests, 0, select_hyperslabs(extent, {std::move(slab)}), buffer}};
  };
  return pattern;
}

}  // namespace slabmark
