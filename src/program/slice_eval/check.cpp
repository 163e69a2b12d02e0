#include "program/slice_eval/check.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"
#include "storage/hdf5/file.hpp"

namespace slabmark::slice_eval {

namespace {

/// Element `i` of an output of `slice` in the file's order.
double expected(const Slice& slice, std::uint64_t field, std::uint64_t i, std::uint64_t iteration) {
  std::array<std::uint64_t, 3> at{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto& range = slice.ranges[axis];
    at[axis] = range.begin + i % range.count() * range.stride;
    i /= range.count();
  }
  return Fields::value(field, at[0], at[1], at[2], iteration);
}

void check_output(const WayContext& context, const std::string& path, std::uint64_t field,
                  const std::vector<double>& found, std::uint64_t output, std::uint64_t iteration) {
  const bool single = context.options.type == ElementType::float32;
  for (std::uint64_t i = 0; i < found.size(); ++i) {
    const auto exact = expected(context.slice, field, i, iteration);
    const auto due = single ? static_cast<double>(static_cast<float>(exact)) : exact;
    if (found[i] == due) continue;
    throw IoError(fmt::format(
        "'{}' holds {} instead of {} at element {} of field f{} in output {}; the way of writing "
        "it is broken, do not trust its figures.",
        path, found[i], due, i, field, output));
  }
}

std::string dataset_of(const FileLayout& layout, std::uint64_t field) {
  auto name = layout.dataset;
  return name.replace(name.find('%'), 1, fmt::to_string(field));
}

}  // namespace

std::uint64_t check_files(const WayContext& context, const FileLayout& layout,
                          const std::vector<std::string>& files,
                          const std::vector<std::uint64_t>& iterations) {
  const hdf5::TransferList list(hdf5::TransferList::Mode::serial);
  const auto outputs_a_file = iterations.size() / files.size();
  std::uint64_t elements = 0;
  for (std::uint64_t output = 0; output < iterations.size(); ++output) {
    const auto& path = files[output / outputs_a_file];
    const auto file = hdf5::File::open_serial(path);
    for (std::uint64_t f = 0; f < context.options.fields; ++f) {
      auto dataset = file.open_dataset(dataset_of(layout, f), ElementType::float64);
      auto space = dataset.space();
      auto start = space.extent();
      auto size = start;
      std::fill(start.begin(), start.end(), 0);
      if (outputs_a_file > 1) {
        start.front() = output % outputs_a_file;
        size.front() = 1;
      }
      space.select(make_box(start, size));
      std::vector<double> found(space.selected());
      std::uint64_t due = 1;
      for (const auto& range : context.slice.ranges) due *= range.count();
      if (found.size() != due) {
        throw IoError(fmt::format("'{}' holds {} elements of field f{} an output instead of {}.",
                                  path, found.size(), f, due));
      }
      dataset.read(hdf5::Space(Extent{found.size()}), space, list, found.data());
      check_output(context, path, f, found, output, iterations[output]);
      elements += found.size();
    }
  }
  return elements;
}

}  // namespace slabmark::slice_eval
