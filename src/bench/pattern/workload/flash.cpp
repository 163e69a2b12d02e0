#include "bench/pattern/workload/makers.hpp"

// FLASH-IO, the I/O kernel of the astrophysics code FLASH, as PnetCDF has it: function
// checkpoint_wr_ncmpi_par of benchmarks/FLASH-IO/checkpoint_ncmpi_parallel.F90. Guard cells stay in
// memory: the kernel packs the interior of its blocks before it writes.

namespace slabmark::workload {

namespace {

/// Blocks of the ranks below `rank`: each has `blocks` and as many more as its number modulo 3.
std::uint64_t blocks_before(std::uint64_t blocks, std::uint64_t rank) {
  return element_count({blocks, rank}) + rank / 3 * 3 + (rank % 3 == 2 ? 1 : 0);
}

}  // namespace

WorkloadParts flash(const WorkloadSizes& sizes, std::uint64_t ranks) {
  const NamedLengths lengths = {{"dim_tot_blocks", blocks_before(sizes.blocks, ranks)},
                                {"dim_nxb", sizes.zones[0]},
                                {"dim_nyb", sizes.zones[1]},
                                {"dim_nzb", sizes.zones[2]}};
  return {
      [table = find_workload_table("flash"), lengths, blocks = sizes.blocks](std::uint64_t rank) {
        const Run mine = {blocks_before(blocks, rank), blocks + rank % 3};
        return make_boxed_output(table, lengths, {{"dim_tot_blocks", mine}}, rank, 1);
      }};
}

}  // namespace slabmark::workload
