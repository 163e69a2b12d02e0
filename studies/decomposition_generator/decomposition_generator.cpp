// How long the decomposition of a production run takes to make: E3SM's atmosphere with ne 120 on
// 21,600 ranks and 72 levels, 56 million offsets in the third map. See README.md for the command
// and a sample.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <span>
#include <string>
#include <sys/resource.h>
#include <vector>

#include <fmt/format.h>

#include "bench/pattern/synthetic/curve.hpp"
#include "bench/pattern/synthetic/f_decomposition.hpp"
#include "bench/pattern/synthetic/mesh.hpp"
#include "core/base/number.hpp"

namespace {

using namespace slabmark;

constexpr int trials = 11;
std::uint64_t checksum = 0;  // keeps the compiler from leaving the work out

/// Runs `stage` once as warm-up and then `trials` times, and prints the median and the range.
void report(const std::string& name, const std::function<void()>& stage) {
  using Clock = std::chrono::steady_clock;
  stage();
  std::vector<double> milliseconds;
  for (int trial = 0; trial < trials; ++trial) {
    const auto begin = Clock::now();
    stage();
    milliseconds.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
  }
  std::sort(milliseconds.begin(), milliseconds.end());
  fmt::print("{:<34}{:9.2f} ms  ({:.2f} .. {:.2f})\n", name, milliseconds[trials / 2],
             milliseconds.front(), milliseconds.back());
}

void visit_all(const SyntheticMap& map) {
  for (std::uint64_t rank = 0; rank < map.ranks; ++rank) {
    map.visit(rank, [](std::span<const std::uint64_t> entries) {
      for (const std::uint64_t entry : entries) checksum += entry;
    });
  }
}

/// Of all ranks, the fewest and most requests for the history file h0, which has 1 variable on D1,
/// 323 on D2 and 63 on D3; D1 with runs merged, D2 and D3 as the model lists them.
void print_requests(const SyntheticDecomposition& f, std::uint64_t levels) {
  std::uint64_t fewest = ~std::uint64_t{0};
  std::uint64_t most = 0;
  for (std::uint64_t rank = 0; rank < f.ranks; ++rank) {
    RunList d1 = model_order_runs(f.maps[0], rank);
    sort_runs(d1);
    coalesce(d1);
    const std::uint64_t requests = d1.size() + (323 + 63 * levels) * owned_count(f.maps[1], rank);
    fewest = std::min(fewest, requests);
    most = std::max(most, requests);
  }
  fmt::print("requests of a rank for file h0: {} .. {}\n", fewest, most);
}

void run(std::uint64_t ne, std::uint64_t ranks, std::uint64_t levels) {
  fmt::print("F ne {} on {} ranks, {} levels; median and range of {} trials\n", ne, ranks, levels,
             trials);
  report("space-filling curve", [ne] { checksum += space_filling_curve(ne).back(); });
  report("node ownership", [mesh = CubedSphere(ne)] {
    for (std::uint64_t e = 0; e < mesh.element_count(); ++e) checksum += mesh.owned(e).first_column;
  });
  report("whole decomposition", [&] { checksum += make_f_decomposition(ne, ranks, levels).ranks; });
  const auto f = make_f_decomposition(ne, ranks, levels);
  for (const SyntheticMap& map : f.maps) {
    report("all entries of " + map.name, [&map] { visit_all(map); });
  }
  print_requests(f, levels);

  rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  fmt::print("peak memory: {} (checksum {:x})\n",
             format_bytes(static_cast<std::uint64_t>(usage.ru_maxrss) * 1024), checksum);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const auto argument = [&](int i, const char* what, std::uint64_t otherwise) {
      return argc > i ? parse_count(argv[i], what, 1) : otherwise;
    };
    run(argument(1, "ne", 120), argument(2, "number of ranks", 21600),
        argument(3, "number of levels", 72));
  } catch (const std::exception& error) {
    fmt::print(stderr, "decomposition_generator: error: {}\n", error.what());
    return 2;
  }
  return 0;
}
