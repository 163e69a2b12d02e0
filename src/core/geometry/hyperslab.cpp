#include "core/geometry/hyperslab.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace slabmark {
namespace {

bool is_empty(const Hyperslab& slab) {
  const auto has_zero = [](const Extent& e) {
    return std::find(e.begin(), e.end(), 0u) != e.end();
  };
  return has_zero(slab.count) || has_zero(slab.block);
}

/// The reason why dimension `d` of `slab` is malformed or ends beyond `length`.
std::optional<std::string> outside_dimension(const Hyperslab& slab, std::size_t d,
                                             std::uint64_t length) {
  const std::uint64_t start = slab.start[d];
  const std::uint64_t stride = slab.stride[d];
  const std::uint64_t count = slab.count[d];
  const std::uint64_t block = slab.block[d];
  if (stride == 0) return fmt::format("its stride in dimension {} is 0", d);
  if (count > 1 && stride < block) {
    return fmt::format("its blocks of {} in dimension {} overlap, being only {} apart", block, d,
                       stride);
  }
  if (start > length) {
    return fmt::format("its start {} in dimension {} lies beyond the length {}", start, d, length);
  }
  if (count == 0 || block == 0) return std::nullopt;
  const std::uint64_t room = length - start;
  if (block > room) {
    return fmt::format("its block of {} at {} in dimension {} ends beyond the length {}", block,
                       start, d, length);
  }
  if (count - 1 > (room - block) / stride) {
    return fmt::format(
        "its {} blocks of {} from {} on, {} apart, in dimension {} end beyond the length {}", count,
        block, start, stride, d, length);
  }
  return std::nullopt;
}

}  // namespace

Hyperslab make_box(Extent start, Extent size) {
  const std::size_t rank = size.size();
  return {std::move(start), Extent(rank, 1), Extent(rank, 1), std::move(size)};
}

std::uint64_t element_count(const Hyperslab& slab) {
  Extent factors = slab.count;
  factors.insert(factors.end(), slab.block.begin(), slab.block.end());
  return element_count(factors);
}

std::optional<std::string> outside(const Hyperslab& slab, const Extent& extent) {
  for (const Extent* part : {&slab.start, &slab.stride, &slab.count, &slab.block}) {
    if (part->size() == extent.size()) continue;
    return fmt::format("it has {} dimensions in an array of {}", part->size(), extent.size());
  }
  for (std::size_t d = 0; d < extent.size(); ++d) {
    if (auto reason = outside_dimension(slab, d, extent[d])) return reason;
  }
  return std::nullopt;
}

RunWalk::RunWalk(const Hyperslab& slab, const Extent& extent) { restart(slab, extent); }

void RunWalk::restart(const Hyperslab& slab, const Extent& extent) {
  axes_.clear();
  held_.reset();
  inner_ = 1;
  done_ = is_empty(slab);
  std::size_t rank = extent.size();
  while (rank > 0) {
    const std::size_t d = rank - 1;
    const bool touching = slab.count[d] == 1 || slab.stride[d] == slab.block[d];
    if (!touching || slab.count[d] * slab.block[d] != extent[d]) break;
    inner_ *= extent[d];
    --rank;
  }
  for (std::size_t d = 0; d < rank; ++d) {
    axes_.push_back({slab.start[d], slab.stride[d], slab.count[d], slab.block[d], extent[d], 0, 0});
  }
  if (axes_.empty()) return;
  // The last axis is walked a block at a time; blocks that touch are one.
  Axis& last = axes_.back();
  if (last.count > 1 && last.stride == last.block) {
    last.block *= last.count;
    last.count = 1;
  }
}

bool RunWalk::next(Run& run) {
  if (held_) {
    run = *held_;
    held_.reset();
  } else if (!next_piece(run)) {
    return false;
  }
  // The end of one row may touch the start of the next.
  for (Run piece; next_piece(piece);) {
    if (piece.offset != run.end()) {
      held_ = piece;
      break;
    }
    run.length += piece.length;
  }
  return true;
}

bool RunWalk::next_piece(Run& piece) {
  if (done_) return false;
  std::uint64_t offset = 0;
  for (const Axis& axis : axes_) {
    offset = offset * axis.length + axis.start + axis.at_count * axis.stride + axis.at_block;
  }
  piece = {offset * inner_, (axes_.empty() ? 1 : axes_.back().block) * inner_};
  advance();
  return true;
}

void RunWalk::advance() {
  for (std::size_t i = axes_.size(); i-- > 0;) {
    Axis& axis = axes_[i];
    const bool by_block = i + 1 == axes_.size();
    if (!by_block && ++axis.at_block < axis.block) return;
    axis.at_block = 0;
    if (++axis.at_count < axis.count) return;
    axis.at_count = 0;
  }
  done_ = true;
}

void for_each_run(const Hyperslab& slab, const Extent& extent,
                  const std::function<void(Run)>& visit) {
  RunWalk walk(slab, extent);
  for (Run run; walk.next(run);) visit(run);
}

void hyperslab_of_row_run(Run run, const Extent& extent, Hyperslab& slab) {
  const std::size_t rank = extent.size();
  slab.start.resize(rank);
  slab.stride.assign(rank, 1);
  slab.count.assign(rank, 1);
  slab.block.assign(rank, 1);
  if (rank == 0) return;
  slab.block.back() = run.length;
  std::uint64_t rest = run.offset;
  for (std::size_t d = rank; d-- > 0;) {
    slab.start[d] = rest % extent[d];
    rest /= extent[d];
  }
}

}  // namespace slabmark
