#include <fmt/format.h>

#include "bench/pattern/workload/makers.hpp"
#include "core/geometry/blocked_field.hpp"

// A restart on another number of ranks: fields that were written by blocks of one decomposition are
// read by those of another one. PnetCDF's benchmarks/C/write_block_read_column.c does so with
// blocks and columns of 2-D arrays.

namespace slabmark::workload {

namespace {

Hyperslab block_of(const BlockedField& field, std::uint64_t rank) {
  const auto [x, y, z] = parts_of(field, whole_field(field), rank);
  return make_box({z.file, y.file, x.file}, {z.count, y.count, x.count});
}

/// This rank's share of the blocks of `blocks` ranks.
Pattern fields_in_blocks(const WorkloadSizes& sizes, std::uint64_t blocks, Run mine) {
  const BlockedField field = {sizes.grid, balanced_processes(blocks, sizes.grid)};
  check_field(field, blocks);
  std::vector<Hyperslab> slabs;
  for (std::uint64_t block = mine.offset; block < mine.end(); ++block) {
    slabs.push_back(block_of(field, block));
  }
  const Extent extent = {sizes.grid[2], sizes.grid[1], sizes.grid[0]};
  const SelectionPtr selection = select_hyperslabs(extent, std::move(slabs));
  Pattern pattern;
  for (std::uint64_t number = 0; number < sizes.variables; ++number) {
    pattern.datasets.push_back(
        {.name = fmt::format("field_{}", number),
         .type = ElementType::float64,
         .dimensions = {{"z", extent[0]}, {"y", extent[1]}, {"x", extent[2]}},
         .chunk = {}});
  }
  pattern.transfers = [selection, count = sizes.variables](std::uint64_t) {
    std::vector<Transfer> transfers;
    for (std::size_t number = 0; number < count; ++number) {
      transfers.push_back({number, 0, selection, nullptr});
    }
    return transfers;
  };
  return pattern;
}

}  // namespace

WorkloadParts restart(const WorkloadSizes& sizes, std::uint64_t ranks) {
  const std::uint64_t writers = sizes.written_by > 0 ? sizes.written_by : 2 * ranks;
  return {[sizes, writers, ranks](std::uint64_t rank) {
            return fields_in_blocks(sizes, writers, equal_range(writers, rank, ranks));
          },
          [sizes, ranks](std::uint64_t rank) {
            return fields_in_blocks(sizes, ranks, {rank, 1});
          }};
}

}  // namespace slabmark::workload
