#include "program/h5perf/ceiling.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <vector>

namespace slabmark::h5perf {

namespace {

constexpr std::uint64_t most_at_once = 16u << 20;
constexpr std::uint64_t bytes_a_try = 64u << 20;
constexpr int tries = 3;

/// There and back, so that no copy is in vain.
void copy(std::vector<char>& a, std::vector<char>& b, std::uint64_t copies) {
  for (std::uint64_t i = 0; i < copies; ++i) {
    a[0] = static_cast<char>(i);
    std::memcpy(b.data(), a.data(), a.size());
    std::swap(a, b);
  }
}

}  // namespace

double memcpy_ceiling(const Comm& comm, std::uint64_t bytes) {
  const std::uint64_t at_once = std::clamp<std::uint64_t>(bytes, 1, most_at_once);
  std::vector<char> a(at_once, 1);
  std::vector<char> b(at_once, 2);
  // Short copies cost more calls than bytes.
  const std::uint64_t copies = std::clamp<std::uint64_t>(bytes_a_try / at_once, 1, 100'000);
  const double total = static_cast<double>(at_once * copies) * comm.size();
  double best = 0.0;
  for (int i = 0; i < tries; ++i) {
    comm.barrier();
    const auto start = std::chrono::steady_clock::now();
    copy(a, b, copies);
    comm.barrier();
    const double mine =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    best = std::max(best, total / comm.max(mine));
  }
  return best;
}

}  // namespace slabmark::h5perf
