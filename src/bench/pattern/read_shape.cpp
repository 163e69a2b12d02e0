#include "bench/pattern/read_shape.hpp"

#include <optional>
#include <utility>
#include <vector>

#include "core/base/error.hpp"

namespace slabmark {

namespace {

Hyperslab one_element(const Extent& extent, std::uint64_t offset) {
  return make_box(indices_of(offset, extent), Extent(extent.size(), 1));
}

Hyperslab middle_level(const Extent& extent) {
  Extent start(extent.size(), 0);
  Extent count = extent;
  start.front() = extent.front() / 2;
  count.front() = 1;
  return make_box(std::move(start), std::move(count));
}

std::uint64_t first_offset(const Selection& selection) {
  std::optional<std::uint64_t> first;
  selection.for_each_run([&](Run run) {
    if (!first) first = run.offset;
  });
  if (!first) throw InputError("The rank that is to read a series has written nothing.");
  return *first;
}

SelectionPtr selected(ReadShape shape, const Selection& written) {
  const Extent& extent = written.extent();
  if (shape == ReadShape::field || (shape == ReadShape::level && extent.size() < 2)) {
    return select_all(extent);
  }
  return select_hyperslabs(
      extent, {shape == ReadShape::level ? middle_level(extent)
                                         : one_element(extent, first_offset(written))});
}

}  // namespace

Pattern make_read_pattern(const Pattern& written, ReadShape shape, bool reads) {
  if (written.file_policy != FilePolicy::one) {
    throw InputError("Reading from one file needs a pattern that writes one file.");
  }
  Pattern pattern = written;
  pattern.settings["read_shape"] = word_for(shape, read_shapes);
  const bool all_times = shape == ReadShape::series;
  pattern.rounds = all_times ? written.rounds : 1;
  const auto first = written.transfers(0).front();
  const auto file =
      reads ? selected(shape, *first.file) : select_none(Extent(first.file->extent()));
  pattern.transfers = [=, transfers = written.transfers,
                       middle = written.rounds / 2](std::uint64_t round) {
    Transfer transfer = transfers(all_times ? round : middle).front();
    transfer.file = file;
    transfer.buffer = nullptr;
    return std::vector<Transfer>{std::move(transfer)};
  };
  return pattern;
}

std::uint64_t elements_of_first(const Pattern& pattern) {
  const auto first = pattern.transfers(0).front();
  std::uint64_t elements = 0;
  for (const Transfer& transfer : pattern.transfers(0)) {
    if (transfer.dataset == first.dataset) elements += transfer.file->element_count();
  }
  return elements;
}

}  // namespace slabmark
