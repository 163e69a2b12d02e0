#include <array>

#include <fmt/format.h>

#include "bench/pattern/workload/makers.hpp"
#include "core/base/error.hpp"

// h5bench's kernels of the plasma code VPIC, which writes particles, and of the clustering code
// BD-CATS, which reads them: h5bench_patterns/h5bench_write.c and h5bench_read.c, both with
// MEM_PATTERN and FILE_PATTERN CONTIG and one dimension. A group of each time step holds the eight
// variables; here the group's name is the first part of a variable's.

namespace slabmark::workload {

namespace {

struct ParticleVariable {
  const char* name;
  ElementType type;
};

constexpr std::array<ParticleVariable, 8> variables = {{{"x", ElementType::float32},
                                                        {"y", ElementType::float32},
                                                        {"z", ElementType::float32},
                                                        {"px", ElementType::float32},
                                                        {"py", ElementType::float32},
                                                        {"pz", ElementType::float32},
                                                        {"id_1", ElementType::int32},
                                                        {"id_2", ElementType::float32}}};

/// x, y, z, id_1, id_2, px, py, pz.
constexpr std::array<std::size_t, 8> reading_order = {0, 1, 2, 6, 7, 3, 4, 5};
constexpr std::array<std::size_t, 8> writing_order = {0, 1, 2, 3, 4, 5, 6, 7};

/// Of each rank the first `moved` of its `sizes.particles`, which follow one another in the file.
WorkloadParts::Part particles_of(const WorkloadSizes& sizes, std::uint64_t ranks,
                                 std::uint64_t moved, const std::array<std::size_t, 8>& order) {
  const std::uint64_t all = element_count({sizes.particles, ranks});
  return [sizes, all, moved, order](std::uint64_t rank) {
    Pattern pattern;
    pattern.rounds = sizes.steps;
    for (std::uint64_t step = 0; step < sizes.steps; ++step) {
      for (const ParticleVariable& variable : variables) {
        pattern.datasets.push_back({.name = fmt::format("Timestep_{}.{}", step, variable.name),
                                    .type = variable.type,
                                    .dimensions = {{"particles", all}},
                                    .chunk = {}});
      }
    }
    const SelectionPtr mine = select_row_runs({all}, {{rank * sizes.particles, moved}});
    pattern.transfers = [mine, order](std::uint64_t round) {
      std::vector<Transfer> transfers;
      for (const std::size_t variable : order) {
        transfers.push_back({round * variables.size() + variable, 0, mine, nullptr});
      }
      return transfers;
    };
    return pattern;
  };
}

}  // namespace

WorkloadParts vpic(const WorkloadSizes& sizes, std::uint64_t ranks) {
  return {particles_of(sizes, ranks, sizes.particles, writing_order)};
}

WorkloadParts bdcats(const WorkloadSizes& sizes, std::uint64_t ranks) {
  if (sizes.first_particles > sizes.particles) {
    throw InputError(
        fmt::format("A rank has {} particles, so its first {} cannot be read; lower "
                    "--first-particles, or raise --particles.",
                    sizes.particles, sizes.first_particles));
  }
  const std::uint64_t read = sizes.first_particles > 0 ? sizes.first_particles : sizes.particles;
  return {particles_of(sizes, ranks, sizes.particles, writing_order),
          particles_of(sizes, ranks, read, reading_order)};
}

}  // namespace slabmark::workload
