// How long the union of many hyperslabs takes to build, and how much memory, against H5S_SELECT_OR
// one by one. See README.md for the command and a sample.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <sys/resource.h>
#include <vector>

#include <fmt/format.h>

#include "core/base/number.hpp"
#include "storage/hdf5/union.hpp"

namespace {

using namespace slabmark;

// In 1-D every second element pair is selected; in 2-D the same in 72 rows, as in E3SM's F case.
constexpr std::uint64_t rows = 72;

Extent extent_of(std::uint64_t slabs, int dims) {
  if (dims == 1) return {4 * slabs};
  return {rows, 4 * ((slabs + rows - 1) / rows)};
}

double seconds(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

std::uint64_t peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

void build(std::uint64_t slabs, int dims, std::size_t leaf) {
  hdf5::UnionBuilder builder(extent_of(slabs, dims), false, leaf);
  for (std::uint64_t i = 0; i < slabs; ++i) builder.add(Run{4 * i, 2});
  builder.finish();
}

/// Median of three. The memory of the first: later ones find it in HDF5's free lists.
void report(const std::string& name, std::uint64_t slabs, const std::function<void()>& work) {
  const auto before = peak_memory();
  std::vector<double> trials = {seconds(work)};
  const auto grown = peak_memory() - before;
  while (trials.size() < 3 && trials.front() < 10.0) trials.push_back(seconds(work));
  std::sort(trials.begin(), trials.end());
  fmt::print("{:<34}{:>9} hyperslabs{:>12.4f} s{:>9.2f} us each{:>7} bytes each\n", name, slabs,
             trials[trials.size() / 2],
             1e6 * trials[trials.size() / 2] / static_cast<double>(slabs), grown / slabs);
}

void one_by_one(std::uint64_t slabs, int dims) {
  auto space = hdf5::Space::nothing_of(extent_of(slabs, dims), false);
  Hyperslab slab;
  for (std::uint64_t i = 0; i < slabs; ++i) {
    hyperslab_of_row_run({4 * i, 2}, extent_of(slabs, dims), slab);
    space.unite(slab, false);
  }
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 3 || argc > 4) {
    fmt::print("usage: hdf5_union HYPERSLABS DIMENSIONS(1|2) [LEAF|naive]\n");
    return 2;
  }
  const auto slabs = parse_count(argv[1], "the number of hyperslabs", 1);
  const auto dims = static_cast<int>(parse_count(argv[2], "the number of dimensions", 1, 2));
  const std::string how = argc == 4 ? argv[3] : std::to_string(hdf5::union_leaf);
  H5open();
  if (how == "naive") {
    report(fmt::format("{}-D, one by one", dims), slabs, [&] { one_by_one(slabs, dims); });
  } else {
    const auto leaf = static_cast<std::size_t>(parse_count(how, "the leaf", 1));
    report(fmt::format("{}-D, union, leaf {}", dims, leaf), slabs,
           [&] { build(slabs, dims, leaf); });
  }
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 1;
}
