#include <algorithm>
#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "program/slice_eval/way.hpp"
#include "slice/gather.hpp"
#include "slice/lines.hpp"

namespace slabmark::slice_eval {

namespace {

BlockedField coarse_grid(const WayContext& context) {
  auto grid = context.options.grid;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto stride = context.slice.ranges[axis].stride;
    grid.points[axis] = (grid.points[axis] + stride - 1) / stride;
  }
  return grid;
}

/// The study's way: the strided points go into a second, smaller field (the plane's only, or all),
/// and the plain writer gets that one.
class CopyingWay : public Way {
 public:
  CopyingWay(bool whole_field, const WayContext& context)
      : context_(context),
        grid_(coarse_grid(context)),
        second_(grid_, context.options.fields, static_cast<std::uint64_t>(context.comm.rank()),
                context.options.huge_pages),
        output_(context.comm.get(), declare()) {
    auto copied = slabmark::whole_field(context.options.grid);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      copied.ranges[axis].stride = context.slice.ranges[axis].stride;
    }
    if (!whole_field) copied.ranges = context.slice.ranges;
    const auto rank = static_cast<std::uint64_t>(context.comm.rank());
    from_ = parts_of(context.options.grid, copied, rank);
    auto plain = copied;
    for (auto& range : plain.ranges) {
      const auto count = range.count();
      range.begin /= range.stride;
      range = {range.begin, range.begin + count, 1};
    }
    to_ = parts_of(grid_, plain, rank);
  }

  void output(std::uint64_t number, double time) override {
    const auto begin = std::chrono::steady_clock::now();
    copy();
    copying_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    output_.write(number, time);
  }
  void finish() override { output_.close(); }
  slice::Tally tally() const override {
    auto tally = output_.tally();
    tally.gather += copying_;
    tally.bytes_touched += touched_;
    return tally;
  }
  std::vector<std::string> files() const override { return output_.files(); }

 private:
  slice::Declaration declare() {
    slice::Declaration declaration;
    declaration.grid = grid_;
    for (std::uint64_t f = 0; f < context_.options.fields; ++f) {
      const double* block = second_.block(f);
      declaration.fields.emplace_back(fmt::format("f{}", f), block);
    }
    declaration.cuts = {
        {plane_of(whole_field(grid_), context_.options.normal, context_.options.position), {}, 1}};
    declaration.prefix = context_.stem;
    declaration.type = context_.options.type;
    declaration.overwrite = context_.options.run.overwrite;
    return declaration;
  }

  void copy() {
    for (const auto& part : from_) {
      if (part.count == 0) return;
    }
    const auto threads = std::min(context_.options.threads, rows());
    if (threads == 1) {
      copy_rows({0, rows()});
    } else {
      std::vector<std::jthread> team;
      for (std::uint64_t t = 0; t < threads; ++t) {
        team.emplace_back([this, t, threads] { copy_rows(equal_range(rows(), t, threads)); });
      }
    }
    touched_ += context_.options.fields * rows() *
                slice::bytes_touched(context_.fields.block(0),
                                     {0, 1, 0, from_[0].count, context_.slice.ranges[0].stride},
                                     ElementType::float64);
  }

  std::uint64_t rows() const { return from_[1].count * from_[2].count; }

  void copy_rows(Run range) {
    const auto rank = static_cast<std::uint64_t>(context_.comm.rank());
    const auto fine = block_with_halo(context_.options.grid, rank);
    const auto coarse = block_with_halo(grid_, rank);
    const auto& ranges = context_.slice.ranges;
    for (std::uint64_t f = 0; f < context_.options.fields; ++f) {
      for (auto row = range.offset; row < range.end(); ++row) {
        const auto z = row / from_[1].count;
        const auto y = row % from_[1].count;
        const auto source = ((from_[2].memory + z * ranges[2].stride) * fine[1] + from_[1].memory +
                             y * ranges[1].stride) *
                                fine[0] +
                            from_[0].memory;
        const auto target =
            ((to_[2].memory + z) * coarse[1] + to_[1].memory + y) * coarse[0] + to_[0].memory;
        slice::gather(context_.fields.block(f), ElementType::float64,
                      {source, 1, 0, from_[0].count, ranges[0].stride},
                      reinterpret_cast<std::byte*>(second_.block(f) + target), ElementType::float64,
                      0);
      }
    }
  }

  WayContext context_;
  BlockedField grid_;
  Fields second_;
  slice::Output output_;
  std::array<SlicePart, 3> from_{};
  std::array<SlicePart, 3> to_{};
  double copying_ = 0.0;
  std::uint64_t touched_ = 0;
};

}  // namespace

std::unique_ptr<Way> make_copying_way(bool whole_field, const WayContext& context) {
  return std::make_unique<CopyingWay>(whole_field, context);
}

}  // namespace slabmark::slice_eval
