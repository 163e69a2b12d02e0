/// How much faster than once an element a fill function is when it fills a block in one call.
///
///   fill_speed libplugins.so [repetitions]
///
/// Fills one block of the default test set with `gaussian` both ways in turn; prints seconds, and
/// the ratio turn by turn with its median.

#include <algorithm>
#include <chrono>
#include <vector>

#include <fmt/format.h>

#include "bench/checkpoint/fill_function.hpp"
#include "core/base/number.hpp"

namespace {

using slabmark::FillFunction;

double seconds_of(const FillFunction& function, const slabmark::CheckpointGrid& grid,
                  std::vector<float>& values) {
  const auto start = std::chrono::steady_clock::now();
  function.fill(3, {0, 0, 0}, grid.domain, values.data());
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: fill_speed libplugins.so [repetitions]\n");
    return 2;
  }
  const auto repetitions = argc > 2 ? slabmark::parse_count(argv[2], "repetitions", 1) : 9;
  const slabmark::CheckpointGrid grid = {{2, 2, 2}, {360, 128, 128}, {180, 128, 128}, 5};
  const std::vector<std::string> arguments = {"1", "100", "50", "50"};
  const FillFunction by_block({argv[1], "gaussian", arguments}, grid);
  const FillFunction by_element({argv[1], "gaussian", arguments, FillFunction::Entry::element},
                                grid);
  std::vector<float> values(grid.domain[0] * grid.domain[1] * grid.domain[2]);
  seconds_of(by_block, grid, values);  // warms up: the pages of `values` are new
  std::vector<double> ratios;
  for (std::uint64_t i = 0; i < repetitions; ++i) {
    const double element = seconds_of(by_element, grid, values);
    const double block = seconds_of(by_block, grid, values);
    ratios.push_back(element / block);
    fmt::print("by element {:.4f} s  by block {:.4f} s  ratio {:.1f}\n", element, block,
               ratios.back());
  }
  std::sort(ratios.begin(), ratios.end());
  fmt::print("by block {:.1f} times as fast (median; min {:.1f}, max {:.1f})\n",
             ratios[ratios.size() / 2], ratios.front(), ratios.back());
  return 0;
}
