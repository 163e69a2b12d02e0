#include "bench/pattern/selection.hpp"

#include <fmt/format.h>

#include "core/base/error.hpp"

namespace slabmark {
namespace {

class RowRunSelection final : public Selection {
 public:
  RowRunSelection(Extent extent, RunList runs)
      : Selection(std::move(extent)), runs_(std::move(runs)) {
    // A list that was coalesced in place may hold twenty times the memory that it needs.
    runs_.shrink_to_fit();
    hyperslab_count_ = runs_.size();
    const std::uint64_t total = slabmark::element_count(extent_);
    const std::uint64_t row_length = extent_.empty() ? 1 : extent_.back();
    std::uint64_t row_begin = 0;
    std::uint64_t last_end = 0;
    for (const Run& run : runs_) {
      if (run.length == 0 || run.offset >= total) reject(run);
      const bool same_row = run.offset >= row_begin && run.offset - row_begin < row_length;
      if (!same_row) row_begin = run.offset - run.offset % row_length;
      if (run.length > row_length - (run.offset - row_begin)) reject(run);
      if (run.offset < last_end) ascending_ = false;
      last_end = run.end();
      element_count_ += run.length;
    }
  }

  void hyperslab(std::uint64_t i, Hyperslab& slab) const override {
    hyperslab_of_row_run(runs_[i], extent_, slab);
  }

  void for_each_run(const std::function<void(Run)>& visit) const override {
    for (const Run& run : runs_) visit(run);
  }

  std::uint64_t memory() const override { return sizeof *this + runs_.capacity() * sizeof(Run); }

 private:
  [[noreturn]] void reject(const Run& run) const {
    throw InputError(
        fmt::format("The run of {} elements at {} is empty, crosses a row or leaves an array of "
                    "{}; cut runs at "
                    "rows and check them against the array first.",
                    run.length, run.offset, to_string(extent_)));
  }

  RunList runs_;
};

/// Row-major offset of the first element of a hyperslab that is not empty.
std::uint64_t first_element(const Hyperslab& slab, const Extent& extent) {
  std::uint64_t offset = 0;
  for (std::size_t d = 0; d < extent.size(); ++d) offset = offset * extent[d] + slab.start[d];
  return offset;
}

std::uint64_t last_element(const Hyperslab& slab, const Extent& extent) {
  std::uint64_t offset = 0;
  for (std::size_t d = 0; d < extent.size(); ++d) {
    const std::uint64_t last_block = slab.start[d] + (slab.count[d] - 1) * slab.stride[d];
    offset = offset * extent[d] + last_block + slab.block[d] - 1;
  }
  return offset;
}

/// Hyperslabs of any shape, wherever they come from.
class SlabSelection final : public Selection {
 public:
  using Generate = std::function<void(std::uint64_t, Hyperslab&)>;

  /// Checks and counts the hyperslabs. `memory`: what `generate` holds.
  SlabSelection(Extent extent, std::uint64_t hyperslab_count, Generate generate,
                std::uint64_t memory)
      : Selection(std::move(extent)), generate_(std::move(generate)), memory_(memory) {
    hyperslab_count_ = hyperslab_count;
    std::uint64_t last_end = 0;
    Hyperslab slab;
    for (std::uint64_t i = 0; i < hyperslab_count_; ++i) {
      generate_(i, slab);
      if (const auto reason = outside(slab, extent_)) {
        throw InputError(fmt::format("Hyperslab {} does not fit an array of {}: {}.", i,
                                     to_string(extent_), *reason));
      }
      const std::uint64_t elements = slabmark::element_count(slab);
      if (elements == 0) continue;
      element_count_ += elements;
      // The elements of one hyperslab ascend, so its two ends tell.
      if (first_element(slab, extent_) < last_end) ascending_ = false;
      last_end = last_element(slab, extent_) + 1;
    }
  }

  void hyperslab(std::uint64_t i, Hyperslab& slab) const override { generate_(i, slab); }

  void for_each_run(const std::function<void(Run)>& visit) const override {
    Hyperslab slab;
    for (std::uint64_t i = 0; i < hyperslab_count_; ++i) {
      generate_(i, slab);
      slabmark::for_each_run(slab, extent_, visit);
    }
  }

  std::uint64_t memory() const override { return sizeof *this + memory_; }

 private:
  Generate generate_;
  std::uint64_t memory_;
};

}  // namespace

SelectionPtr select_row_runs(Extent extent, RunList runs) {
  return std::make_shared<RowRunSelection>(std::move(extent), std::move(runs));
}

SelectionPtr select_hyperslabs(Extent extent, std::vector<Hyperslab> slabs) {
  const std::uint64_t count = slabs.size();
  const std::uint64_t each = sizeof(Hyperslab) + 4 * extent.size() * sizeof(std::uint64_t);
  return std::make_shared<SlabSelection>(
      std::move(extent), count,
      [slabs = std::move(slabs)](std::uint64_t i, Hyperslab& slab) { slab = slabs[i]; },
      count * each);
}

SelectionPtr select_generated(Extent extent, std::uint64_t hyperslab_count,
                              std::function<void(std::uint64_t i, Hyperslab& slab)> generate) {
  return std::make_shared<SlabSelection>(std::move(extent), hyperslab_count, std::move(generate),
                                         0);
}

SelectionPtr select_all(Extent extent) {
  if (element_count(extent) == 0) return select_none(std::move(extent));
  Hyperslab whole = make_box(Extent(extent.size(), 0), extent);
  return select_hyperslabs(std::move(extent), {std::move(whole)});
}

SelectionPtr select_none(Extent extent) { return select_row_runs(std::move(extent), {}); }

}  // namespace slabmark
