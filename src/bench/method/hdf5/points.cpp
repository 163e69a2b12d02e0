#include <fmt/format.h>

#include "bench/method/hdf5/planned.hpp"
#include "core/base/number.hpp"
#include "core/geometry/hyperslab.hpp"

namespace slabmark {

namespace {

// A point costs its coordinates twice, in our list and in HDF5's nodes. More than this many would
// take several GiB of a rank's memory.
constexpr std::uint64_t most_points = std::uint64_t{1} << 26;

/// The coordinates of all elements of `selection` in its order.
std::vector<hsize_t> coordinates_of(const Selection& selection, bool leading_time) {
  const auto& extent = selection.extent();
  std::vector<hsize_t> coordinates;
  coordinates.reserve(selection.element_count() * (extent.size() + (leading_time ? 1 : 0)));
  std::vector<hsize_t> point(extent.size());
  selection.for_each_run([&](Run run) {
    store_indices(run.offset, extent, point.data());
    for (std::uint64_t i = 0; i < run.length; ++i) {
      if (leading_time) coordinates.push_back(0);
      coordinates.insert(coordinates.end(), point.begin(), point.end());
      for (std::size_t d = extent.size(); d-- > 0;) {
        if (++point[d] < extent[d]) break;
        point[d] = 0;
      }
    }
  });
  return coordinates;
}

hdf5::Space points_of(const Selection& selection, bool leading_time) {
  auto space = hdf5::Space::nothing_of(selection.extent(), leading_time);
  if (selection.element_count() == 0) return space;
  if (selection.extent().empty() && !leading_time) {
    space.select_all();
  } else {
    space.select_points(coordinates_of(selection, leading_time));
  }
  return space;
}

// Points keep their order, so nothing is permuted.
Hdf5Plan plan_of_points(const Transfer& transfer, bool leading_time) {
  Hdf5Plan plan;
  plan.file = points_of(*transfer.file, leading_time);
  if (transfer.file->element_count() == 0 || !transfer.buffer) {
    plan.memory = line_of(transfer.file->element_count());
  } else if (transfer.buffer->ascending()) {
    plan.memory = union_of(*transfer.buffer, false);
  } else {
    plan.memory = points_of(*transfer.buffer, false);
  }
  return plan;
}

Hdf5Reason too_many_points(const Pattern& pattern, const Hdf5Options&) {
  for (std::uint64_t round = 0; round < pattern.rounds; ++round) {
    for (const auto& transfer : pattern.transfers(round)) {
      const auto elements = transfer.file->element_count();
      if (elements <= most_points) continue;
      return fmt::format("dataset {} would take {} points on a rank; {} is the most",
                         pattern.datasets[transfer.dataset].name, elements, most_points);
    }
  }
  return std::nullopt;
}

}  // namespace

MethodInfo hdf5_points_method() {
  return hdf5_info("hdf5-points", "one H5Dwrite per dataset, each element a selected point",
                   make_planned<plan_of_points>, {.unmet = too_many_points});
}

}  // namespace slabmark
