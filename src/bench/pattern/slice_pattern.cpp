#include "bench/pattern/slice_pattern.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace slabmark {

namespace {

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
std::map<std::string, std::string> settings_of(const SliceSource& source, std::uint64_t outputs) {
  const BlockedField& field = source.field;
  std::vector<std::string> planes;
  std::vector<std::string> ranges;
  std::array<std::uint64_t, 3> stride = {1, 1, 1};
  for (const auto& slice : source.slices) {
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
  const bool halos = !source.slices.empty() && source.slices.front().with_halos;
  return {{"grid", triple(field.points)},
          {"processes", triple(field.processes)},
          {"halo", fmt::to_string(field.halo)},
          {"halos_kept", halos ? "outer" : "none"},
          {"planes", fmt::format("{}", fmt::join(planes, " "))},
          {"ranges", fmt::format("{}", fmt::join(ranges, " "))},
          {"stride", triple(stride)},
          {"fields", fmt::to_string(source.fields)},
          {"outputs", fmt::to_string(outputs)},
          {"type", std::string(name_of(source.type))}};
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
    dataset.dimensions.push_back({fmt::format("{}{}", axis_names[axis], slice.name), length});
  }
  return dataset;
}

}  // namespace

Pattern make_slice_pattern(SliceSource source, std::uint64_t outputs, std::uint64_t rank,
                           std::uint64_t size) {
  check_field(source.field, size);
  for (const auto& slice : source.slices) check_slice(source.field, slice);

  Pattern pattern;
  pattern.name = "slice";
  pattern.rounds = outputs;
  pattern.settings = settings_of(source, outputs);
  std::vector<Transfer> transfers;
  for (const auto& slice : source.slices) {
    const auto sides = sides_of(source.field, slice, rank);
    for (std::uint64_t f = 0; f < source.fields; ++f) {
      transfers.push_back({pattern.datasets.size(), 0, sides.file, sides.memory});
      pattern.datasets.push_back(dataset_of(slice, f, source.type, outputs > 1));
    }
  }
  pattern.slices = std::make_shared<SliceSource>(std::move(source));
  pattern.transfers = [transfers](std::uint64_t round) {
    auto now = transfers;
    for (auto& transfer : now) transfer.time = round;
    return now;
  };
  return pattern;
}

}  // namespace slabmark
