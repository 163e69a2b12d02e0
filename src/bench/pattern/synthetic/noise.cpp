#include "bench/pattern/synthetic/noise.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "bench/pattern/content_hash.hpp"

namespace slabmark {
namespace {

/// One axis of the lattice: the lower of the two lattice points around a coordinate and the weight
/// of the upper one, flat at both so that the height has no creases.
struct Between {
  std::int64_t lower;
  double weight;
};

Between lattice(double coordinate) {
  const double floor = std::floor(coordinate);
  const double t = coordinate - floor;
  return {static_cast<std::int64_t>(floor), t * t * (3.0 - 2.0 * t)};
}

double height_at_point(std::uint64_t seed, std::int64_t x, std::int64_t y, std::int64_t z) {
  std::uint64_t hash = mix(seed + golden_gamma * static_cast<std::uint64_t>(x));
  hash = mix(hash + golden_gamma * static_cast<std::uint64_t>(y));
  hash = mix(hash + golden_gamma * static_cast<std::uint64_t>(z));
  return static_cast<double>(hash >> 11) * 0x1p-53;
}

double value_noise(std::uint64_t seed, double x, double y, double z) {
  const std::array<Between, 3> axes = {lattice(x), lattice(y), lattice(z)};
  double height = 0.0;
  for (int corner = 0; corner < 8; ++corner) {
    const int dx = corner & 1;
    const int dy = corner >> 1 & 1;
    const int dz = corner >> 2 & 1;
    const double weight = (dx ? axes[0].weight : 1.0 - axes[0].weight) *
                          (dy ? axes[1].weight : 1.0 - axes[1].weight) *
                          (dz ? axes[2].weight : 1.0 - axes[2].weight);
    if (weight == 0.0) continue;
    height +=
        weight * height_at_point(seed, axes[0].lower + dx, axes[1].lower + dy, axes[2].lower + dz);
  }
  return height;
}

}  // namespace

std::uint64_t RandomStream::next() {
  state_ += golden_gamma;
  return mix(state_);
}

double FractalNoise::at(double x, double y, double z) const {
  double height = 0.0;
  double frequency = 1.0;
  double amplitude = 1.0;
  for (int octave = 0; octave < octaves_; ++octave) {
    const std::uint64_t octave_seed = mix(seed_ + static_cast<std::uint64_t>(octave));
    height += amplitude * value_noise(octave_seed, x * frequency, y * frequency, z * frequency);
    frequency *= 2.0;
    amplitude *= roughness_;
  }
  return height;
}

std::vector<std::uint8_t> mark_greatest(const std::vector<float>& values, std::uint64_t count) {
  std::vector<std::uint8_t> marks(values.size(), 0);
  if (count == 0) return marks;
  std::vector<float> sorted = values;
  const auto last_marked = sorted.begin() + static_cast<std::ptrdiff_t>(count - 1);
  std::nth_element(sorted.begin(), last_marked, sorted.end(), std::greater<>());
  const float least = *last_marked;

  std::uint64_t left = count;
  for (std::size_t i = 0; i < values.size(); ++i) {
    marks[i] = values[i] > least ? 1 : 0;
    left -= marks[i];
  }
  for (std::size_t i = 0; i < values.size() && left > 0; ++i) {
    if (values[i] != least) continue;
    marks[i] = 1;
    --left;
  }
  return marks;
}

}  // namespace slabmark
