#include "pattern/slice_pattern.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"

namespace slabmark {

namespace {

std::string axis_name(std::size_t axis) { return std::string(1, axis_names[axis]); }

void check_range(const PointRange& range, std::uint64_t points, std::size_t axis) {
  if (range.begin >= range.end || range.end > points) {
    throw InputError(
        fmt::format("The range {} to {} along {} is not within the field's 0 to {}; give a begin "
                    "below an end within it.",
                    range.begin, range.end, axis_name(axis), points));
  }
  if (range.stride == 0 || range.stride > range.end - range.begin) {
    throw InputError(fmt::format("The stride {} along {} is not within 1 to {}, the points there.",
                                 range.stride, axis_name(axis), range.end - range.begin));
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

/// File and memory side of what this rank has of a slice. All fields share them.
struct Sides {
  SelectionPtr file;
  SelectionPtr memory;
};

Sides sides_of(const BlockedField& field, const Slice& slice, std::uint64_t rank) {
  const auto parts = parts_of(field, slice, rank);
  const auto block = block_with_halo(field, rank);
  Extent file_extent;
  Extent memory_extent;
  Hyperslab file;
  Hyperslab memory;
  bool nothing = false;
  for (std::size_t axis = 3; axis-- > 0;) {  // slowest first
    const auto& part = parts[axis];
    nothing = nothing || part.count == 0;
    memory_extent.push_back(block[axis]);
    memory.start.push_back(part.memory);
    memory.stride.push_back(slice.ranges[axis].stride);
    memory.count.push_back(part.count);
    memory.block.push_back(1);
    if (slice.normal == axis) continue;
    file_extent.push_back(slice.ranges[axis].count());
    file.start.push_back(part.file);
    file.stride.push_back(1);
    file.count.push_back(1);
    file.block.push_back(part.count);
  }
  if (nothing) return {select_none(std::move(file_extent)), select_none(std::move(memory_extent))};
  return {select_hyperslabs(std::move(file_extent), {file}),
          select_hyperslabs(std::move(memory_extent), {memory})};
}

std::string triple(const std::array<std::uint64_t, 3>& of) {
  return fmt::format("{}", fmt::join(of, ","));
}

/// For the record: the field, and which of its points are kept.
std::map<std::string, std::string> settings_of(const BlockedField& field,
                                               const std::vector<Slice>& slices, ElementType type,
                                               std::uint64_t fields, std::uint64_t outputs) {
  std::vector<std::string> planes;
  std::vector<std::string> ranges;
  std::array<std::uint64_t, 3> stride = {1, 1, 1};
  for (const auto& slice : slices) {
    const auto whole = slice.with_halos ? whole_field_with_halos(field) : whole_field(field);
    if (slice.normal) {
      const auto position = slice.ranges[*slice.normal].begin;
      planes.push_back(fmt::format("{}={}", axis_names[*slice.normal], position));
    }
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const auto& range = slice.ranges[axis];
      stride[axis] = std::max(stride[axis], range.stride);
      const bool all = range.begin == 0 && range.end == whole.ranges[axis].end;
      if (all || axis == slice.normal) continue;
      const auto text = fmt::format("{}={}:{}", axis_names[axis], range.begin, range.end);
      if (std::find(ranges.begin(), ranges.end(), text) == ranges.end()) ranges.push_back(text);
    }
  }
  const bool halos = !slices.empty() && slices.front().with_halos;
  return {{"grid", triple(field.points)},
          {"processes", triple(field.processes)},
          {"halo", fmt::to_string(field.halo)},
          {"halos_kept", halos ? "outer" : "none"},
          {"planes", fmt::format("{}", fmt::join(planes, " "))},
          {"ranges", fmt::format("{}", fmt::join(ranges, " "))},
          {"stride", triple(stride)},
          {"fields", fmt::to_string(fields)},
          {"outputs", fmt::to_string(outputs)},
          {"type", std::string(name_of(type))}};
}

Dataset dataset_of(const Slice& slice, std::uint64_t field, ElementType type, bool has_time) {
  Dataset dataset;
  dataset.name = fmt::format("f{}{}", field, slice.name);
  dataset.type = type;
  dataset.has_time = has_time;
  for (std::size_t axis = 3; axis-- > 0;) {
    if (slice.normal == axis) continue;
    // Lengths differ between slices, and in some formats all datasets of a file share dimensions.
    const auto length = slice.ranges[axis].count();
    dataset.dimensions.push_back({fmt::format("{}{}", axis_name(axis), slice.name), length});
  }
  return dataset;
}

}  // namespace

Slice whole_field(const BlockedField& field) {
  Slice slice;
  for (std::size_t axis = 0; axis < 3; ++axis) slice.ranges[axis] = {0, field.points[axis], 1};
  return slice;
}

void check_field(const BlockedField& field, std::uint64_t size) {
  const auto& p = field.processes;
  std::uint64_t product = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (field.points[axis] == 0) {
      throw InputError(
          fmt::format("The field has no points along {}; give at least 1.", axis_name(axis)));
    }
    if (p[axis] == 0 || p[axis] > field.points[axis]) {
      throw InputError(
          fmt::format("{} processes along {} cannot share {} points; give 1 to {} processes there.",
                      p[axis], axis_name(axis), field.points[axis], field.points[axis]));
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
  Slice slice;
  slice.with_halos = true;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    slice.ranges[axis] = {0, field.points[axis] + 2 * field.halo, 1};
  }
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

Pattern make_slice_pattern(const BlockedField& field, const std::vector<Slice>& slices,
                           ElementType type, std::uint64_t fields, std::uint64_t outputs,
                           std::uint64_t rank, std::uint64_t size) {
  check_field(field, size);
  for (const auto& slice : slices) check_slice(field, slice);

  Pattern pattern;
  pattern.name = "slice";
  pattern.rounds = outputs;
  pattern.settings = settings_of(field, slices, type, fields, outputs);
  std::vector<Transfer> transfers;
  for (const auto& slice : slices) {
    const auto sides = sides_of(field, slice, rank);
    for (std::uint64_t f = 0; f < fields; ++f) {
      transfers.push_back({pattern.datasets.size(), 0, sides.file, sides.memory});
      pattern.datasets.push_back(dataset_of(slice, f, type, outputs > 1));
    }
  }
  pattern.transfers = [transfers](std::uint64_t round) {
    auto now = transfers;
    for (auto& transfer : now) transfer.time = round;
    return now;
  };
  return pattern;
}

}  // namespace slabmark
