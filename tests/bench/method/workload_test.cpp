#include "bench/pattern/workload/workload.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <gtest/gtest.h>

#include "bench/method/pass.hpp"
#include "bench/method/registry.hpp"
#include "scratch.hpp"
#include "storage/hdf5/subfiles.hpp"

namespace slabmark {
namespace {

/// As small as shows all shapes.
WorkloadSizes small_sizes(const Workload& workload) {
  WorkloadSizes sizes = workload.defaults;
  sizes.variables = std::min<std::uint64_t>(sizes.variables, 8);
  sizes.blocks = 2;
  sizes.zones = {3, 2, 4};
  sizes.grid = {11, 9, 7};
  sizes.cells = 100;
  sizes.levels = 3;
  sizes.particles = 100;
  sizes.bytes = 3 << 10;
  sizes.buffer = 1 << 10;
  sizes.segments = 2;
  sizes.part_size = 12 * 8;
  return sizes;
}

/// The pattern with one dataset of each type and shape, since methods move the others alike.
Pattern one_of_each(Pattern pattern) {
  std::map<std::tuple<ElementType, bool, std::vector<std::string>>, std::size_t> seen;
  std::vector<Dataset> kept;
  std::map<std::size_t, std::size_t> places;
  for (std::size_t i = 0; i < pattern.datasets.size(); ++i) {
    const Dataset& dataset = pattern.datasets[i];
    std::vector<std::string> names;
    for (const Dimension& dimension : dataset.dimensions) names.push_back(dimension.name);
    if (!seen.try_emplace({dataset.type, dataset.has_time, names}, i).second) continue;
    places[i] = kept.size();
    kept.push_back(dataset);
  }
  pattern.datasets = std::move(kept);
  pattern.transfers = [places, all = std::move(pattern.transfers)](std::uint64_t round) {
    std::vector<Transfer> transfers;
    for (Transfer transfer : all(round)) {
      const auto place = places.find(transfer.dataset);
      if (place == places.end()) continue;
      transfer.dataset = place->second;
      transfers.push_back(std::move(transfer));
    }
    return transfers;
  };
  return pattern;
}

class WorkloadsThrough : public testing::TestWithParam<std::string> {};

TEST_P(WorkloadsThrough, IsWrittenAndReadAsItIs) {
  const Comm comm(MPI_COMM_WORLD);
  const Scratch scratch(comm);
  const MethodInfo& method = find_method(GetParam());
  const auto rank = static_cast<std::uint64_t>(comm.rank());
  const auto ranks = static_cast<std::uint64_t>(comm.size());
  for (const Workload& workload : workloads()) {
    SCOPED_TRACE(workload.name);
    // HDF5 2.2.0 takes tenths of a second to open and close subfiles, so one workload must do.
    if (method.format == FileFormat::hdf5_subfiles && workload.name != "vpic") continue;
    const auto parts = make_workload(workload, small_sizes(workload), ranks);
    const Pattern mine = one_of_each(parts.written(rank));
    if (method.supports(mine, {})) continue;  // of a library of this version
    const Pattern other =
        one_of_each((parts.read ? parts.read : parts.written)((rank + 1) % ranks));
    const auto path = scratch.file(std::string(workload.name));
    EXPECT_EQ(write_file(method, comm, mine, {}, path).fault, "");
    EXPECT_EQ(check_plainly(method.format, comm, other, path), "");
    EXPECT_EQ(read_file(method, comm, other, {}, path).fault, "");
  }
}

std::vector<std::string> methods_of_files() {
  std::vector<std::string> names;
  for (const MethodInfo& method : methods()) {
    if (method.kind != MethodKind::general && method.kind != MethodKind::yardstick) continue;
    if (method.format == FileFormat::none || !method.missing.empty()) continue;
    if (method.format == FileFormat::hdf5_subfiles && !hdf5::no_subfiling_cause().empty()) continue;
    names.push_back(method.name);
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(Workloads, WorkloadsThrough, testing::ValuesIn(methods_of_files()),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace slabmark
