#include "core/geometry/blocked_field.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/geometry/run.hpp"

namespace slabmark {

namespace {

void check_range(const PointRange& range, std::uint64_t points, std::size_t axis) {
  if (range.begin >= range.end || range.end > points) {
    throw InputError(
        fmt::format("The range {} to {} along {} is not within the field's 0 to {}; give a begin "
                    "below an end within it.",
                    range.begin, range.end, axis_names[axis], points));
  }
  if (range.stride == 0 || range.stride > range.end - range.begin) {
    throw InputError(fmt::format("The stride {} along {} is not within 1 to {}, the points there.",
                                 range.stride, axis_names[axis], range.end - range.begin));
  }
}

/// `owned`: the range of the block in the slice's own count. `before`: memory of its first point.
SlicePart part_of(const PointRange& range, Run owned, std::uint64_t before) {
  const auto end = std::min(range.end, owned.end());
  auto first = std::max(range.begin, owned.offset) - range.begin;
  first = range.begin + (first + range.stride - 1) / range.stride * range.stride;
  if (first >= end) return {};
  return {first - owned.offset + before, (first - range.begin) / range.stride,
          (end - first + range.stride - 1) / range.stride};
}

std::array<Run, 3> block_of(const BlockedField& field, std::uint64_t rank) {
  std::array<Run, 3> block;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    block[axis] =
        equal_range(field.points[axis], rank % field.processes[axis], field.processes[axis]);
    rank /= field.processes[axis];
  }
  return block;
}

/// A block without its halos, but for those at the field's outer faces: these are counted too, so
/// that the field's own points begin at `halo`.
Run with_outer_halos(Run block, std::uint64_t points, std::uint64_t halo) {
  const auto begin = block.offset == 0 ? 0 : block.offset + halo;
  const auto end = block.end() == points ? points + 2 * halo : block.end() + halo;
  return {begin, end - begin};
}

}  // namespace

Slice whole_field(const BlockedField& field) {
  Slice slice;
  for (std::size_t axis = 0; axis < 3; ++axis) slice.ranges[axis] = {0, field.points[axis], 1};
  return slice;
}

void check_field(const BlockedField& field, std::uint64_t size) {
  constexpr std::uint64_t most = std::uint64_t{1} << 60;  // so that bytes can be counted, too
  std::uint64_t all = 1;
  for (const auto points : field.points) {
    const auto with_halos = points > most || field.halo > most ? most : points + 2 * field.halo;
    if (__builtin_mul_overflow(all, with_halos, &all) || all >= most) {
      throw InputError(fmt::format(
          "A field of {} x {} x {} points with halos of {} is more than can be addressed; give "
          "fewer.",
          field.points[0], field.points[1], field.points[2], field.halo));
    }
  }
  const auto& p = field.processes;
  std::uint64_t product = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (field.points[axis] == 0) {
      throw InputError(
          fmt::format("The field has no points along {}; give at least 1.", axis_names[axis]));
    }
    if (p[axis] == 0 || p[axis] > field.points[axis]) {
      throw InputError(
          fmt::format("{} processes along {} cannot share {} points; give 1 to {} processes there.",
                      p[axis], axis_names[axis], field.points[axis], field.points[axis]));
    }
    if (__builtin_mul_overflow(product, p[axis], &product)) product = 0;
  }
  if (product != size) {
    throw InputError(
        fmt::format("A process grid of {} x {} x {} needs that many ranks, not {}; give processes "
                    "whose product "
                    "is {}.",
                    p[0], p[1], p[2], size, size));
  }
}

void check_slice(const BlockedField& field, const Slice& slice) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto points = field.points[axis] + (slice.with_halos ? 2 * field.halo : 0);
    check_range(slice.ranges[axis], points, axis);
  }
}

Slice whole_field_with_halos(const BlockedField& field) {
  Slice slice = whole_field(field);
  slice.with_halos = true;
  for (PointRange& range : slice.ranges) range.end += 2 * field.halo;
  return slice;
}

Slice plane_of(Slice slice, std::size_t normal, std::uint64_t position) {
  slice.name = fmt::format("_{}{}", axis_names[normal], position);
  slice.ranges[normal] = {position, position + 1, 1};
  slice.normal = normal;
  return slice;
}

std::array<SlicePart, 3> parts_of(const BlockedField& field, const Slice& slice,
                                  std::uint64_t rank) {
  const auto block = block_of(field, rank);
  std::array<SlicePart, 3> parts;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto owned = slice.with_halos
                           ? with_outer_halos(block[axis], field.points[axis], field.halo)
                           : block[axis];
    const bool at_face = slice.with_halos && block[axis].offset == 0;
    parts[axis] = part_of(slice.ranges[axis], owned, at_face ? 0 : field.halo);
  }
  return parts;
}

std::array<std::uint64_t, 3> block_with_halo(const BlockedField& field, std::uint64_t rank) {
  const auto block = block_of(field, rank);
  std::array<std::uint64_t, 3> points{};
  for (std::size_t axis = 0; axis < 3; ++axis) points[axis] = block[axis].length + 2 * field.halo;
  return points;
}

std::array<std::uint64_t, 3> balanced_processes(std::uint64_t ranks,
                                                const std::array<std::uint64_t, 3>& points) {
  using Processes = std::array<std::uint64_t, 3>;
  const auto descending = [](Processes factors) {
    std::sort(factors.begin(), factors.end(), std::greater<>());
    return factors;
  };
  const auto fit = [&](const Processes& one) {
    return std::inner_product(one.begin(), one.end(), points.begin(), std::uint64_t{0});
  };
  std::optional<Processes> best;
  for (std::uint64_t x = std::min(ranks, points[0]); x > 0; --x) {
    if (ranks % x != 0) continue;
    for (std::uint64_t y = std::min(ranks / x, points[1]); y > 0; --y) {
      const Processes one{x, y, ranks / x / y};
      if (ranks / x % y != 0 || one[2] > points[2]) continue;
      const auto order = best ? descending(one) <=> descending(*best) : std::strong_ordering::less;
      if (order < 0 || (order == 0 && fit(one) > fit(*best))) best = one;
    }
  }
  return best.value_or(Processes{ranks, 1, 1});
}

}  // namespace slabmark
