#include "bench/pattern/workload/workload.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <gmock/gmock.h>

#include "core/base/error.hpp"

namespace slabmark {
namespace {

using testing::ElementsAre;

const Workload& workload_called(const std::string& name) {
  const auto& all = workloads();
  return *std::find_if(all.begin(), all.end(),
                       [&](const Workload& workload) { return workload.name == name; });
}

WorkloadSizes defaults_of(const std::string& name) { return workload_called(name).defaults; }

WorkloadVolume volume(const std::string& name, const WorkloadSizes& sizes, std::uint64_t ranks) {
  const Workload& workload = workload_called(name);
  return volume_of(workload, make_workload(workload, sizes, ranks), ranks);
}

Pattern written(const std::string& name, const WorkloadSizes& sizes, std::uint64_t rank,
                std::uint64_t ranks) {
  return make_workload(workload_called(name), sizes, ranks).written(rank);
}

/// The only hyperslab of one of the first round's transfers.
Hyperslab slab_of(const Pattern& pattern, std::size_t transfer) {
  Hyperslab slab;
  pattern.transfers(0).at(transfer).file->hyperslab(0, slab);
  return slab;
}

std::vector<std::string> names(const Pattern& pattern, std::size_t first, std::size_t end) {
  std::vector<std::string> all;
  for (std::size_t i = first; i < end; ++i) all.push_back(pattern.datasets.at(i).name);
  return all;
}

/// Small sizes, which take no time.
WorkloadSizes small_sizes(const Workload& workload) {
  WorkloadSizes sizes = workload.defaults;
  sizes.blocks = 2;
  sizes.zones = {3, 2, 4};
  sizes.grid = {11, 9, 7};
  sizes.cells = 200;
  sizes.levels = 3;
  sizes.particles = 13;
  sizes.bytes = 96;
  sizes.buffer = 32;
  sizes.segments = 2;
  sizes.part_size = 12 * 8;
  sizes.steps = 2;
  return sizes;
}

// Elements in no rank's part stay what they were, and those in two parts hold either's values: a
// workload has neither.
TEST(Workloads, EveryElementIsOneRanks) {
  for (const Workload& workload : workloads()) {
    for (const std::uint64_t ranks : {1, 2, 5, 6}) {
      SCOPED_TRACE(testing::Message() << workload.name << " on " << ranks);
      const auto parts = make_workload(workload, small_sizes(workload), ranks);
      std::map<std::pair<std::size_t, std::uint64_t>, RunList> found;
      std::vector<Dataset> datasets;
      for (std::uint64_t rank = 0; rank < ranks; ++rank) {
        const Pattern pattern = parts.written(rank);
        datasets = pattern.datasets;
        for (std::uint64_t round = 0; round < pattern.rounds; ++round) {
          for (const Transfer& transfer : pattern.transfers(round)) {
            RunList& runs = found[{transfer.dataset, transfer.time}];
            transfer.file->for_each_run([&](slabmark::Run run) { runs.push_back(run); });
          }
        }
      }
      std::set<std::size_t> seen;
      for (auto& [place, runs] : found) {
        sort_runs(runs);
        EXPECT_EQ(find_overlap(runs), std::nullopt) << datasets[place.first].name;
        coalesce(runs);
        const std::uint64_t all = element_count(datasets[place.first].extent());
        EXPECT_EQ(runs, (RunList{{0, all}})) << datasets[place.first].name;
        seen.insert(place.first);
      }
      EXPECT_EQ(seen.size(), datasets.size());
    }
  }
}

TEST(Workloads, NameTheirSizesInTheRecord) {
  for (const Workload& workload : workloads()) {
    const Pattern pattern = written(std::string(workload.name), small_sizes(workload), 0, 2);
    EXPECT_EQ(pattern.name, workload.name);
    EXPECT_EQ(pattern.settings.size(), workload.sizes_in_use.size()) << workload.name;
    for (const auto size : workload.sizes_in_use) {
      EXPECT_TRUE(pattern.settings.contains(std::string(size))) << workload.name << ' ' << size;
    }
  }
}

// The README of PnetCDF's FLASH-IO: 512 processes with blocks of 16 x 16 x 16 write 31109.74 MiB.
TEST(Workloads, FlashMovesWhatItsSourceSays) {
  WorkloadSizes sizes = defaults_of("flash");
  sizes.zones = {16, 16, 16};
  const auto [bytes, requests] = volume("flash", sizes, 512);
  EXPECT_EQ((bytes * 100 + (1 << 19)) >> 20, 3110974u);
  EXPECT_EQ(requests, 30u * 512) << "six variables of the tree and 24 unknowns";
}

TEST(Workloads, FlashHasTheVariablesOfACheckpoint) {
  const Pattern pattern = written("flash", defaults_of("flash"), 4, 6);
  EXPECT_THAT(names(pattern, 0, 8), ElementsAre("lrefine", "nodetype", "gid", "coordinates",
                                                "blocksize", "bndbox", "dens", "velx"));
  EXPECT_THAT(names(pattern, 16, 18), ElementsAre("gpot", "f1__"));
  ASSERT_EQ(pattern.datasets.size(), 30u);
  EXPECT_EQ(pattern.datasets[2].extent(), (Extent{486, 15})) << "6 x 80, and 0 + 1 + 2 twice";
  EXPECT_EQ(pattern.datasets[5].extent(), (Extent{486, 3, 2}));
  EXPECT_EQ(pattern.datasets[29].extent(), (Extent{486, 8, 8, 8}));
  EXPECT_EQ(slab_of(pattern, 29).start, (Extent{323, 0, 0, 0})) << "80 + 81 + 82 + 80";
  EXPECT_EQ(slab_of(pattern, 29).block, (Extent{81, 8, 8, 8}));
}

// The example of wrf_io.c: two time steps of 100 x 100 columns are 68696794 bytes, of which 68474
// are the header of the file.
TEST(Workloads, WrfMovesWhatItsSourceSays) {
  WorkloadSizes sizes = defaults_of("wrf");
  sizes.grid = {100, 100, 34};
  sizes.steps = 2;
  const auto [bytes, requests] = volume("wrf", sizes, 4);
  EXPECT_EQ(bytes, 68696794u - 68474u);
  // 122 variables of two dimensions and 25 of three are every rank's, 55 the first rank's.
  EXPECT_EQ(requests, 2u * ((122 + 25) * 4 + 55));
}

TEST(Workloads, WrfCutsTheDomainAsACheckerboardWithTheLastFaces) {
  WorkloadSizes sizes = defaults_of("wrf");
  sizes.grid = {10, 21, 5};
  const Pattern pattern = written("wrf", sizes, 5, 6);  // 3 rows of 2 patches; this is the last
  ASSERT_EQ(pattern.datasets.size(), 202u);
  for (const Dataset& dataset : pattern.datasets) EXPECT_TRUE(dataset.has_time) << dataset.name;
  const auto at = [&](const std::string& name) {
    std::size_t i = 0;
    while (pattern.datasets.at(i).name != name) ++i;
    return i;
  };
  EXPECT_EQ(pattern.datasets[at("U")].extent(), (Extent{5, 21, 11}));
  EXPECT_EQ(slab_of(pattern, at("U")).start, (Extent{0, 14, 5}));
  EXPECT_EQ(slab_of(pattern, at("U")).block, (Extent{5, 7, 6}));
  EXPECT_EQ(slab_of(pattern, at("V")).block, (Extent{5, 8, 5}));
  EXPECT_EQ(slab_of(pattern, at("W")).block, (Extent{6, 7, 5}));
  EXPECT_EQ(pattern.datasets[at("Times")].type, ElementType::character);
  EXPECT_EQ(pattern.transfers(0)[at("Times")].file->element_count(), 0u);
}

TEST(Workloads, MpasHasCellsEdgesAndVerticesInBlocks) {
  WorkloadSizes sizes = defaults_of("mpas");
  sizes.cells = 300;
  sizes.levels = 4;
  const Pattern pattern = written("mpas", sizes, 1, 3);
  ASSERT_EQ(pattern.datasets.size(), 59u);
  std::map<std::string, Extent> extents;
  std::map<std::string, std::uint64_t> elements;
  const auto transfers = pattern.transfers(0);
  for (std::size_t i = 0; i < transfers.size(); ++i) {
    extents[pattern.datasets[i].name] = pattern.datasets[i].extent();
    elements[pattern.datasets[i].name] = transfers[i].file->element_count();
  }
  const std::uint64_t edges = extents["latEdge"][0];
  const std::uint64_t vertices = extents["latVertex"][0];
  // Euler's formula for a mesh in one or more pieces with holes: only the order of size is known.
  EXPECT_GT(edges, 2 * 300u);
  EXPECT_LT(edges, 6 * 300u);
  EXPECT_GT(vertices, 300u);
  EXPECT_LT(vertices, edges);
  EXPECT_EQ(extents["temperature"], (Extent{300, 4}));
  EXPECT_EQ(extents["edgesOnEdge"], (Extent{edges, 12}));
  EXPECT_EQ(extents["cellsOnVertex"], (Extent{vertices, 3}));
  EXPECT_EQ(extents["xtime"], (Extent{64}));
  EXPECT_EQ(elements["temperature"], 4 * elements["latCell"]);
  EXPECT_EQ(elements["weightsOnEdge"], 12 * elements["latEdge"]);
  EXPECT_EQ(elements["vertexMask"], 4 * elements["latVertex"]);
  EXPECT_EQ(elements["refBottomDepth"], 0u) << "of the first rank";
}

// h5bench counts 7 floats and an int for each particle.
TEST(Workloads, VpicWritesEightVariablesOfParticlesEachStep) {
  WorkloadSizes sizes = defaults_of("vpic");
  sizes.particles = 1000;
  sizes.steps = 3;
  const auto [bytes, requests] = volume("vpic", sizes, 5);
  EXPECT_EQ(bytes, 3u * 5 * 1000 * 32);
  EXPECT_EQ(requests, 3u * 5 * 8);
  const Pattern pattern = written("vpic", sizes, 2, 5);
  EXPECT_THAT(names(pattern, 8, 16),
              ElementsAre("Timestep_1.x", "Timestep_1.y", "Timestep_1.z", "Timestep_1.px",
                          "Timestep_1.py", "Timestep_1.pz", "Timestep_1.id_1", "Timestep_1.id_2"));
  EXPECT_EQ(pattern.datasets[6].type, ElementType::int32);
  EXPECT_EQ(pattern.datasets[7].type, ElementType::float32);
  EXPECT_EQ(slab_of(pattern, 0).start, (Extent{2000}));
  EXPECT_EQ(pattern.transfers(1).front().dataset, 8u);
}

TEST(Workloads, BdcatsReadsAllOrTheFirstParticlesOfEachRank) {
  WorkloadSizes sizes = defaults_of("bdcats");
  sizes.particles = 1000;
  EXPECT_EQ(volume("bdcats", sizes, 5).bytes, 5u * 1000 * 32);
  sizes.first_particles = 10;
  EXPECT_EQ(volume("bdcats", sizes, 5).bytes, 5u * 10 * 32);
  const Pattern read = make_workload(workload_called("bdcats"), sizes, 5).read(3);
  std::vector<std::size_t> order;
  for (const Transfer& transfer : read.transfers(0)) order.push_back(transfer.dataset);
  EXPECT_THAT(order, ElementsAre(0, 1, 2, 6, 7, 3, 4, 5));
  EXPECT_EQ(slab_of(read, 0).start, (Extent{3000}));
  EXPECT_EQ(slab_of(read, 0).block, (Extent{10}));
  sizes.first_particles = 1001;
  EXPECT_THROW(make_workload(workload_called("bdcats"), sizes, 5), InputError);
}

TEST(Workloads, IorEasyHasOneBlockPerRank) {
  WorkloadSizes sizes = defaults_of("ior-easy");
  const auto [bytes, requests] = volume("ior-easy", sizes, 3);
  EXPECT_EQ(bytes, 3u * (16 << 20));
  EXPECT_EQ(requests, 3u * 8);
  const Pattern pattern = written("ior-easy", sizes, 2, 3);
  Hyperslab slab;
  pattern.transfers(3).front().file->hyperslab(0, slab);
  EXPECT_EQ(slab.start, (Extent{(2 * 16 + 3 * 2) << 20}));
  sizes.buffer = 3 << 20;
  EXPECT_THROW(make_workload(workload_called("ior-easy"), sizes, 3), InputError);
}

// IOR: offset = segment * ranks * block + rank * block.
TEST(Workloads, IorHardInterleavesBlocksOf47008Bytes) {
  const auto [bytes, requests] = volume("ior-hard", defaults_of("ior-hard"), 3);
  EXPECT_EQ(bytes, 3u * 64 * 47008);
  EXPECT_EQ(requests, 3u * 64);
  const Pattern pattern = written("ior-hard", defaults_of("ior-hard"), 1, 3);
  ASSERT_EQ(pattern.rounds, 64u);
  RunList runs;
  pattern.transfers(10).front().file->for_each_run([&](slabmark::Run run) { runs.push_back(run); });
  EXPECT_EQ(runs, (RunList{{(10 * 3 + 1) * 47008, 47008}}));
}

// A part of 80000 bytes has 100 x 100 nodes and 99 x 99 zones. Of 20 variables 9 are float64 on
// zones, 9 float64 on nodes, and 2 int32 on zones.
TEST(Workloads, MacsioHasVariablesOnNodesAndZonesOfParts) {
  const WorkloadSizes sizes = defaults_of("macsio");
  const auto [bytes, requests] = volume("macsio", sizes, 4);
  EXPECT_EQ(bytes, 10u * (9 * 99 * 99 * 8 + 9 * 100 * 100 * 8 + 2 * 99 * 99 * 4));
  EXPECT_EQ(requests, 10u * 20);
  const Pattern pattern = written("macsio", sizes, 1, 4);  // of 2 x 5 parts numbers 3, 4 and 5
  EXPECT_THAT(names(pattern, 0, 10),
              ElementsAre("constant", "random", "spherical", "xramp", "ysin", "noise", "noise_sum",
                          "xlayers", "constant_000", "random_000"));
  EXPECT_EQ(pattern.datasets[0].extent(), (Extent{5 * 99, 2 * 99}));
  EXPECT_EQ(pattern.datasets[3].extent(), (Extent{5 * 100, 2 * 100}));
  EXPECT_EQ(pattern.datasets[7].type, ElementType::int32);
  const auto nodes = pattern.transfers(0)[3].file;
  ASSERT_EQ(nodes->hyperslab_count(), 3u);
  Hyperslab slab;
  nodes->hyperslab(2, slab);
  EXPECT_EQ(slab.start, (Extent{0, 100})) << "part 5 begins the second column of parts";
  nodes->hyperslab(0, slab);
  EXPECT_EQ(slab.start, (Extent{300, 0}));
}

TEST(Workloads, MacsioRefusesPartsWithoutZones) {
  WorkloadSizes sizes = defaults_of("macsio");
  sizes.part_size = 7 * 8;
  EXPECT_THROW(make_workload(workload_called("macsio"), sizes, 4), InputError);
  sizes = defaults_of("macsio");
  sizes.parts = 0.5;
  EXPECT_THROW(make_workload(workload_called("macsio"), sizes, 4), InputError);
}

TEST(Workloads, RestartReadsOtherBlocksThanWereWritten) {
  WorkloadSizes sizes = defaults_of("restart");
  sizes.grid = {12, 10, 8};
  sizes.written_by = 5;
  const auto parts = make_workload(workload_called("restart"), sizes, 2);
  EXPECT_EQ(volume("restart", sizes, 2).bytes, 4u * 12 * 10 * 8 * 8);
  EXPECT_EQ(volume("restart", sizes, 2).requests, 2u * 4);
  EXPECT_EQ(parts.written(0).transfers(0)[0].file->hyperslab_count(), 3u) << "of five blocks";
  EXPECT_EQ(slab_of(parts.read(1), 0).start, (Extent{0, 0, 6}));
  EXPECT_EQ(slab_of(parts.read(1), 0).block, (Extent{8, 10, 6}));
  sizes.grid = {2, 2, 2};
  EXPECT_THROW(make_workload(workload_called("restart"), sizes, 2).written(0), InputError);
}

TEST(Workloads, OfMoreBytesThanFilesHoldAreRefused) {
  WorkloadSizes sizes = defaults_of("vpic");
  sizes.particles = std::uint64_t{1} << 62;
  EXPECT_THROW(make_workload(workload_called("vpic"), sizes, 4), InputError);
  sizes = defaults_of("flash");
  sizes.zones = {1'000'000'000, 1'000'000'000, 1'000'000'000};
  EXPECT_THROW(written("flash", sizes, 0, 4), InputError);
  sizes = defaults_of("wrf");
  sizes.grid = {1, 1, 1};
  EXPECT_THROW(make_workload(workload_called("wrf"), sizes, 4), InputError);
}

}  // namespace
}  // namespace slabmark
