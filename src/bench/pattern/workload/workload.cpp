#include "bench/pattern/workload/workload.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/pattern/workload/makers.hpp"

namespace slabmark {

namespace {

constexpr std::array sizes_of_workloads = {
    WorkloadSize{"steps", &WorkloadSizes::steps, "Time steps", false, "", 1'000'000},
    WorkloadSize{"variables", &WorkloadSizes::variables, "Number of variables", false, "",
                 1'000'000},
    WorkloadSize{"grid", &WorkloadSizes::grid, "Points of the field; x is the fastest"},
    WorkloadSize{"blocks-per-rank", &WorkloadSizes::blocks,
                 "Blocks per rank; the ranks in turn have 0, 1 and 2 more"},
    WorkloadSize{"zones", &WorkloadSizes::zones, "Zones of a block along each axis"},
    WorkloadSize{"cells", &WorkloadSizes::cells, "Cells of the mesh"},
    WorkloadSize{"levels", &WorkloadSizes::levels, "Vertical levels"},
    WorkloadSize{"particles", &WorkloadSizes::particles, "Particles per rank"},
    WorkloadSize{"first-particles", &WorkloadSizes::first_particles,
                 "Read only the first particles of each rank", false, "all"},
    WorkloadSize{"bytes", &WorkloadSizes::bytes, "Bytes per process and dataset", true},
    WorkloadSize{"buffer", &WorkloadSizes::buffer, "Bytes of a transfer buffer", true},
    WorkloadSize{"segments", &WorkloadSizes::segments,
                 "Segments of one block of 47008 bytes per rank", false, "", 1'000'000},
    WorkloadSize{"parts-per-rank", &WorkloadSizes::parts, "Mesh parts per rank on average"},
    WorkloadSize{"part-size", &WorkloadSizes::part_size,
                 "Bytes of a variable on the nodes of a mesh part", true},
    WorkloadSize{"written-by", &WorkloadSizes::written_by, "Ranks that wrote the file", false,
                 "twice the ranks that read"},
};

std::vector<Workload> make_workloads() {
  return {
      {"flash",
       "FLASH-IO: a checkpoint of 24 variables in blocks, with the tree of the mesh",
       "PnetCDF, benchmarks/FLASH-IO/checkpoint_ncmpi_parallel.F90",
       {.blocks = 80, .zones = {8, 8, 8}},
       {"blocks-per-rank", "zones"},
       workload::flash},
      {"wrf",
       "WRF-IO: a history file of 202 record variables in patches of the domain",
       "PnetCDF, benchmarks/WRF-IO/wrf_io.c and wrf_header.txt (WRF 4.4.1)",
       {.grid = {95, 65, 34}},
       {"grid", "steps"},
       workload::wrf},
      {"mpas",
       "MPAS-Ocean: the stream output in blocks of cells, edges and vertices",
       "MPAS-Model, src/core_ocean/Registry.xml",
       {.cells = 2562, .levels = 60},
       {"cells", "levels", "steps"},
       workload::mpas},
      {"vpic",
       "h5bench: VPIC writes eight variables of particles in each time step",
       "h5bench, h5bench_patterns/h5bench_write.c",
       {.particles = 262144},
       {"particles", "steps"},
       workload::vpic},
      {"bdcats",
       "h5bench: BD-CATS reads what VPIC wrote",
       "h5bench, h5bench_patterns/h5bench_read.c",
       {.particles = 262144},
       {"particles", "first-particles", "steps"},
       workload::bdcats,
       true},
      {"ior-easy",
       "IO500, ior-easy: one contiguous block per rank in a shared file",
       "IO500, src/phase_ior_easy.c with filePerProc = FALSE",
       {.bytes = 16 << 20, .buffer = 2 << 20},
       {"bytes", "buffer"},
       workload::ior_easy},
      {"ior-hard",
       "IO500, ior-hard: interleaved blocks of 47008 bytes in a shared file",
       "IO500, src/phase_ior_hard.c",
       {.segments = 64},
       {"segments"},
       workload::ior_hard},
      {"macsio",
       "MACSio: variables on nodes and zones of a mesh in several parts per rank",
       "MACSio, plugins/macsio_hdf5.c (main_dump_sif) and macsio/macsio_data.c",
       {.variables = 20, .parts = 2.5, .part_size = 80000},
       {"parts-per-rank", "part-size", "variables"},
       workload::macsio},
      {"restart",
       "a restart on another number of ranks than wrote the fields",
       "PnetCDF, benchmarks/C/write_block_read_column.c, in three dimensions",
       {.variables = 4, .grid = {64, 64, 64}},
       {"grid", "written-by", "variables"},
       workload::restart,
       true},
  };
}

std::string text_of(std::uint64_t number) { return fmt::to_string(number); }
std::string text_of(double number) { return fmt::to_string(number); }
std::string text_of(const WorkloadSizes::Lengths& lengths) {
  return fmt::format("{}", fmt::join(lengths, ","));
}

WorkloadParts::Part labeled(WorkloadParts::Part part, std::string name,
                            std::map<std::string, std::string> settings) {
  if (!part) return nullptr;
  return [part = std::move(part), name = std::move(name),
          settings = std::move(settings)](std::uint64_t rank) {
    Pattern pattern = part(rank);
    pattern.name = name;
    pattern.settings = settings;
    return pattern;
  };
}

}  // namespace

std::span<const WorkloadSize> workload_sizes() { return sizes_of_workloads; }

const std::vector<Workload>& workloads() {
  static const std::vector<Workload> all = make_workloads();
  return all;
}

WorkloadParts make_workload(const Workload& workload, const WorkloadSizes& sizes,
                            std::uint64_t ranks) {
  WorkloadParts parts = workload.make(sizes, ranks);
  const auto settings = describe_sizes(workload, sizes);
  const std::string name(workload.name);
  return {labeled(std::move(parts.written), name, settings),
          labeled(std::move(parts.read), name, settings)};
}

std::map<std::string, std::string> describe_sizes(const Workload& workload,
                                                  const WorkloadSizes& sizes) {
  std::map<std::string, std::string> texts;
  for (const WorkloadSize& size : sizes_of_workloads) {
    const auto& used = workload.sizes_in_use;
    if (std::find(used.begin(), used.end(), size.name) == used.end()) continue;
    texts[std::string(size.name)] =
        std::visit([&](auto member) { return text_of(sizes.*member); }, size.member);
  }
  return texts;
}

WorkloadVolume volume_of(const Workload& workload, const WorkloadParts& parts,
                         std::uint64_t ranks) {
  const bool reads = workload.only_reads && parts.read;
  WorkloadVolume volume;
  for (std::uint64_t rank = 0; rank < ranks; ++rank) {
    const Pattern pattern = reads ? parts.read(rank) : parts.written(rank);
    volume.bytes += moved_bytes(pattern);
    volume.requests += request_count(pattern);
  }
  return volume;
}

}  // namespace slabmark
