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
  held_.reset();
  if (is_empty(slab)) return pieces_.clear();
  const auto touching = [&](std::size_t d) {
    return slab.count[d] == 1 || slab.stride[d] == slab.block[d];
  };
  // The fastest dimensions that are selected in full belong to each piece.
  piece_length_ = 1;
  std::size_t rank = extent.size();
  for (; rank > 0 && touching(rank - 1); --rank) {
    if (slab.count[rank - 1] * slab.block[rank - 1] != extent[rank - 1]) break;
    piece_length_ *= extent[rank - 1];
  }
  std::uint64_t weight = piece_length_;  // elements from one index to the next
  for (std::size_t d = 0; d < rank; ++d) weight *= extent[d];
  pieces_.restart(static_cast<std::int64_t>(offset_of(slab.start.data(), extent)));
  for (std::size_t d = 0; d < rank; ++d) {
    weight /= extent[d];
    const bool is_last = d + 1 == rank;
    const std::uint64_t joined = is_last && touching(d) ? slab.count[d] : 1;
    pieces_.add(slab.count[d] / joined, static_cast<std::int64_t>(slab.stride[d] * weight));
    if (is_last) {
      piece_length_ *= slab.block[d] * joined;
    } else {
      pieces_.add(slab.block[d], static_cast<std::int64_t>(weight));
    }
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
  if (pieces_.done()) return false;
  piece = {static_cast<std::uint64_t>(pieces_.position()), piece_length_};
  pieces_.advance();
  return true;
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
  store_indices(run.offset, extent, slab.start.data());
}

}  // namespace slabmark
