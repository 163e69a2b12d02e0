#include "bench/pattern/synthetic/curve.hpp"

#include <array>
#include <span>
#include <string>

#include <fmt/format.h>

#include "core/base/error.hpp"

namespace slabmark {
namespace {

// A grid of ne 3000 has cells of about 1 km, finer than any run so far; the tables that are built
// for it stay below 3 GiB.
constexpr std::uint64_t max_ne = 3000;

/// One sub-cell of a level, in visiting order. Axes are relative to the main axis of the level
/// above (0 the same, 1 the other), signs to its direction. The joiner is the step that the pen
/// takes when the sub-cell is done; `inherit` takes the step of the level above.
struct SubCell {
  std::uint8_t axis;
  std::int8_t sign;
  std::uint8_t joiner_axis;
  std::int8_t joiner_sign;
  bool inherit = false;
};

constexpr std::array<SubCell, 4> hilbert = {{
    {1, +1, 1, +1},
    {0, +1, 0, +1},
    {0, +1, 1, -1},
    {1, -1, 0, 0, true},
}};

constexpr std::array<SubCell, 9> peano = {{
    {1, +1, 1, +1},
    {1, +1, 1, +1},
    {0, +1, 0, +1},
    {0, +1, 0, +1},
    {0, +1, 1, -1},
    {0, -1, 0, -1},
    {1, -1, 1, -1},
    {1, -1, 0, +1},
    {0, +1, 0, 0, true},
}};

constexpr std::array<SubCell, 25> cinco = {{
    {0, +1, 0, +1}, {0, +1, 0, +1}, {1, +1, 1, +1}, {1, +1, 1, +1}, {1, +1, 0, -1},
    {1, -1, 1, -1}, {0, -1, 0, -1}, {0, -1, 1, +1}, {1, +1, 1, +1}, {1, +1, 1, +1},
    {0, +1, 0, +1}, {0, +1, 1, -1}, {1, -1, 0, +1}, {1, +1, 1, +1}, {0, +1, 0, +1},
    {0, +1, 0, +1}, {0, +1, 1, -1}, {0, -1, 0, -1}, {1, -1, 1, -1}, {1, -1, 0, +1},
    {0, +1, 1, -1}, {0, -1, 0, -1}, {1, -1, 1, -1}, {1, -1, 0, +1}, {0, +1, 0, 0, true},
}};

std::uint64_t without_curve_factors(std::uint64_t ne) {
  for (const std::uint64_t factor : {2, 3, 5}) {
    while (ne > 1 && ne % factor == 0) ne /= factor;
  }
  return ne;
}

/// Factors of ne, outermost level first.
std::vector<int> curve_levels(std::uint64_t ne) {
  std::vector<int> levels;
  for (const int factor : {5, 3, 2}) {
    const auto f = static_cast<std::uint64_t>(factor);
    for (; ne % f == 0; ne /= f) levels.push_back(factor);
  }
  return levels;
}

struct Step {
  std::uint8_t axis;
  std::int8_t sign;
};

class Pen {
 public:
  explicit Pen(std::uint64_t ne) : ne_(ne), levels_(curve_levels(ne)), visited_(ne * ne) {}

  std::vector<std::uint32_t> draw() {
    draw_level(0, {0, +1}, {0, +1});
    return std::move(visited_);
  }

 private:
  void draw_level(std::size_t level, Step main, Step joiner) {
    if (level == levels_.size()) {
      visit_and_step(joiner);
      return;
    }
    for (const SubCell& cell : sub_cells(levels_[level])) {
      const Step sub_main = relative(main, cell.axis, cell.sign);
      const Step sub_joiner =
          cell.inherit ? joiner : relative(main, cell.joiner_axis, cell.joiner_sign);
      draw_level(level + 1, sub_main, sub_joiner);
    }
  }

  void visit_and_step(Step joiner) {
    visited_[position_[0] * ne_ + position_[1]] = number_++;
    // The step after the last cell leaves the square; nothing is visited there.
    position_[joiner.axis] += static_cast<std::uint64_t>(std::int64_t{joiner.sign});
  }

  static Step relative(Step main, std::uint8_t axis, std::int8_t sign) {
    return {static_cast<std::uint8_t>((main.axis + axis) % 2),
            static_cast<std::int8_t>(sign * main.sign)};
  }

  static std::span<const SubCell> sub_cells(int factor) {
    if (factor == 2) return hilbert;
    if (factor == 3) return peano;
    return cinco;
  }

  std::uint64_t ne_;
  std::vector<int> levels_;
  std::vector<std::uint32_t> visited_;
  std::array<std::uint64_t, 2> position_ = {0, 0};
  std::uint32_t number_ = 0;
};

/// The size that works and is nearest to `ne`, or both where two are equally near: "120", "6 or ne
/// 8".
std::string nearest_curve_sizes(std::uint64_t ne) {
  std::uint64_t below = ne;
  while (without_curve_factors(below) != 1) --below;
  std::uint64_t above = ne;
  while (without_curve_factors(above) != 1) ++above;
  if (ne - below < above - ne) return fmt::format("{}", below);
  if (above - ne < ne - below) return fmt::format("{}", above);
  return fmt::format("{} or ne {}", below, above);
}

}  // namespace

void require_curve_size(std::uint64_t ne) {
  if (ne == 0 || ne > max_ne) {
    throw InputError(
        fmt::format("ne {} is out of range: a cubed sphere has between 1 and {} elements along a "
                    "cube edge.",
                    ne, max_ne));
  }
  if (without_curve_factors(ne) != 1) {
    throw InputError(
        fmt::format("ne {} does not work: the atmosphere's space-filling curve exists only where "
                    "2, 3 and 5 are "
                    "the only prime factors of ne; the nearest that works is ne {}.",
                    ne, nearest_curve_sizes(ne)));
  }
}

std::vector<std::uint32_t> space_filling_curve(std::uint64_t ne) {
  require_curve_size(ne);
  return Pen(ne).draw();
}

}  // namespace slabmark
