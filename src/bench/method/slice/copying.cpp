#include <algorithm>
#include <thread>

#include "accel/slices/device.hpp"
#include "accel/slices/gather.hpp"
#include "accel/slices/lines.hpp"
#include "bench/method/options.hpp"
#include "bench/method/slice/method.hpp"
#include "core/base/stopwatch.hpp"
#include "core/geometry/run.hpp"

namespace slabmark {

namespace {

/// The field that a slice's stride leaves of another.
BlockedField coarse_field(const SliceSource& source) {
  auto grid = source.field;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto stride = source.slices.front().ranges[axis].stride;
    grid.points[axis] = (grid.points[axis] + stride - 1) / stride;
  }
  return grid;
}

Slice strided_field(const SliceSource& source) {
  auto all = whole_field(source.field);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    all.ranges[axis].stride = source.slices.front().ranges[axis].stride;
  }
  return all;
}

/// Blocks of the coarse field, which the library cuts equally, must be what the stride leaves of
/// the blocks.
bool blocks_match(const SliceSource& source) {
  const auto& processes = source.field.processes;
  const auto coarse = coarse_field(source);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (coarse.points[axis] < processes[axis]) return false;
  }
  for (std::uint64_t rank = 0; rank < processes[0] * processes[1] * processes[2]; ++rank) {
    const auto left = parts_of(source.field, strided_field(source), rank);
    const auto equal = parts_of(coarse, whole_field(coarse), rank);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (left[axis].count != equal[axis].count) return false;
    }
  }
  return true;
}

bool is_plane_of_whole_field(const SliceSource& source) {
  if (source.slices.size() != 1 || !source.slices.front().normal) return false;
  const auto& plane = source.slices.front();
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto& range = plane.ranges[axis];
    const bool all = range.begin == 0 && range.end == source.field.points[axis];
    if (axis != *plane.normal && !all) return false;
  }
  return true;
}

struct CopyOptions {
  std::uint64_t threads = 1;
  bool huge_pages = true;
};

OptionTable<CopyOptions> copy_options() {
  OptionTable<CopyOptions> table;
  table.add("copy.threads", &CopyOptions::threads, "threads that copy", Size{1});
  table.add("copy.huge_pages", &CopyOptions::huge_pages, "the second field is in pages of 2 MiB");
  return table;
}

/// The study's way: the strided points go into a second, smaller field (the plane's only, or all),
/// and the library gets that one's plane.
class SliceCopying : public SliceMethod {
 public:
  SliceCopying(const MethodContext& context, bool whole)
      : SliceMethod(context),
        options_(copy_options().read(context.settings)),
        grid_(coarse_field(source())) {
    auto copied = strided_field(source());
    if (!whole) copied.ranges = source().slices.front().ranges;
    from_ = parts_of(source().field, copied, rank());
    for (auto& range : copied.ranges) {
      const auto first = range.begin / range.stride;
      range = {first, first + range.count(), 1};
    }
    to_ = parts_of(grid_, copied, rank());
    const auto& plane = source().slices.front();
    cut_ = plane_of(whole_field(grid_), *plane.normal, plane.ranges[*plane.normal].begin);
    cut_.name = plane.name;
  }

  void create(const std::string& path) override {
    auto declaration = declare(context_.pattern, path);
    declaration.grid = grid_;
    declaration.cuts.front().slice = cut_;
    files_.emplace(context_.comm, declaration);
  }

  void prepare() override {
    const auto shape = block_with_halo(grid_, rank());
    const auto bytes = shape[0] * shape[1] * shape[2] * size_of(source().type);
    for (const auto& dataset : context_.pattern.datasets) {
      second_.push_back(slice::make_pages(bytes, options_.huge_pages));
      files_->output.set_block(dataset.name, second_.back().get());
    }
  }

  void sync() override { files_->sync(); }
  void close() override { files_->output.close(); }

 protected:
  void write(std::uint64_t round, std::span<std::byte* const> buffers) override {
    timed(copying_.gather, [&] { copy(buffers); });
    files_->write(round);
  }
  slice::Tally tally() const override {
    auto tally = files_->output.tally();
    tally.gather += copying_.gather;
    tally.bytes_touched += copying_.bytes_touched;
    return tally;
  }

 private:
  void copy(std::span<std::byte* const> buffers) {
    for (const auto& part : from_) {
      if (part.count == 0) return;
    }
    const auto threads = std::min(options_.threads, rows());
    if (threads == 1) {
      copy_rows(buffers, {0, rows()});
    } else {
      std::vector<std::jthread> team;
      for (std::uint64_t t = 0; t < threads; ++t) {
        team.emplace_back(
            [this, buffers, t, threads] { copy_rows(buffers, equal_range(rows(), t, threads)); });
      }
    }
    const auto row = slice::bytes_touched(
        buffers.front(), {0, 1, 0, from_[0].count, strides()[0].stride}, source().type);
    copying_.bytes_touched += source().fields * rows() * row;
  }

  std::uint64_t rows() const { return from_[1].count * from_[2].count; }
  const std::array<PointRange, 3>& strides() const { return source().slices.front().ranges; }

  void copy_rows(std::span<std::byte* const> buffers, Run range) {
    const auto fine = block_with_halo(source().field, rank());
    const auto coarse = block_with_halo(grid_, rank());
    const auto type = source().type;
    for (std::uint64_t f = 0; f < source().fields; ++f) {
      for (auto row = range.offset; row < range.end(); ++row) {
        const auto z = row / from_[1].count;
        const auto y = row % from_[1].count;
        const auto first = ((from_[2].memory + z * strides()[2].stride) * fine[1] +
                            from_[1].memory + y * strides()[1].stride) *
                               fine[0] +
                           from_[0].memory;
        const auto target =
            ((to_[2].memory + z) * coarse[1] + to_[1].memory + y) * coarse[0] + to_[0].memory;
        slice::gather(buffers[f], type, {first, 1, 0, from_[0].count, strides()[0].stride},
                      second_[f].get() + target * size_of(type), type, 0);
      }
    }
  }

  CopyOptions options_;
  BlockedField grid_;  ///< of the second field
  Slice cut_;          ///< of it
  std::array<SlicePart, 3> from_{};
  std::array<SlicePart, 3> to_{};
  std::vector<slice::Buffer> second_;
  std::optional<SliceFiles> files_;  // after the second field, which it reads
  slice::Tally copying_;
};

std::optional<std::string> reason_against_copying(const Pattern& pattern, const Settings&) {
  if (auto reason = reason_against_host_slices(pattern)) return reason;
  if (!is_plane_of_whole_field(*pattern.slices))
    return "it copies for one plane through the whole field";
  if (!blocks_match(*pattern.slices)) {
    return "the stride does not leave equal blocks, as its second array needs";
  }
  return std::nullopt;
}

MethodInfo copying_info(std::string name, std::string summary, bool whole) {
  auto info = slice_info(std::move(name), std::move(summary), FileFormat::vtkhdf);
  info.options = copy_options();
  info.supports = reason_against_copying;
  info.make = [whole](const MethodContext& context) {
    return std::make_unique<SliceCopying>(context, whole);
  };
  return info;
}

}  // namespace

MethodInfo copy_plane_method() {
  return copying_info("copy-plane",
                      "the strided plane is copied into a second field, and that appended", false);
}
MethodInfo copy_field_method() {
  return copying_info(
      "copy-field",
      "the whole strided field is copied into a second one, and a plane of that appended", true);
}

}  // namespace slabmark
