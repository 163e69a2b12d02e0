#include "accel/c_library/decomposition.hpp"

#include <algorithm>
#include <limits>
#include <new>
#include <numeric>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "accel/c_library/element_type.hpp"
#include "accel/c_library/failure.hpp"
#include "collective/exchange/flush_plan.hpp"
#include "collective/exchange/ranges.hpp"

namespace slabmark::rearrange {

namespace {

constexpr auto largest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());

std::uint64_t number_of_elements(slabmark_type type, std::span<const std::int64_t> extents) {
  const std::uint64_t bytes = size_of(type);
  if (bytes == 0) {
    throw Failure(
        SLABMARK_EARGUMENT,
        fmt::format("{} is no type of the library; see slabmark_type.", static_cast<int>(type)));
  }
  std::uint64_t elements = 1;
  for (const std::int64_t extent : extents) {
    const auto length = static_cast<std::uint64_t>(std::max<std::int64_t>(extent, 0));
    if (extent < 0 || (length > 0 && elements > largest / bytes / length)) {
      throw Failure(SLABMARK_EARGUMENT,
                    fmt::format("An array cannot have the extent {} beside the others.", extent));
    }
    elements *= length;
  }
  return elements;
}

bool lies_before(const Piece& a, const Piece& b) { return a.file < b.file; }

void refuse_repeated(const std::vector<Piece>& sorted) {
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i].file >= sorted[i - 1].file + sorted[i - 1].length) continue;
    throw Failure(SLABMARK_EDECOMP,
                  fmt::format("The decomposition names element {} twice on one rank; name each "
                              "element once.",
                              sorted[i].file));
  }
}

}  // namespace

Decomposition::Decomposition(const Comm& comm, std::int64_t number, slabmark_type type,
                             std::span<const std::int64_t> extents, std::span<const BufferRun> runs)
    : comm_(comm), number_(number), type_(type) {
  const auto failure = caught([&] { take(extents, runs); });
  const auto shape = static_cast<std::int64_t>(elements_);
  std::int64_t common[] = {shape, -shape, type, -static_cast<std::int64_t>(type),
                           static_cast<std::int64_t>(count_ * size_of(type))};
  agree(comm, failure, SLABMARK_EARGUMENT, common);
  if (common[0] != -common[1] || common[2] != -common[3]) {
    throw Failure(SLABMARK_ERANKS,
                  "Ranks name different extents or types for one decomposition; they must be the "
                  "same on all.");
  }
  most_bytes_ = static_cast<std::uint64_t>(common[4]);
}

void Decomposition::take(std::span<const std::int64_t> extents, std::span<const BufferRun> runs) {
  elements_ = number_of_elements(type_, extents);
  std::vector<Piece> pieces;
  for (const BufferRun& run : runs) {
    const auto length = static_cast<std::uint64_t>(run.length);
    if (run.length < 0 || count_ + length > largest / size_of(type_)) {
      throw Failure(SLABMARK_EARGUMENT, fmt::format("A run cannot have {} elements.", run.length));
    }
    const auto start = static_cast<std::uint64_t>(run.start);
    if (run.start < -1 || (run.start >= 0 && (start > elements_ || length > elements_ - start))) {
      throw Failure(SLABMARK_EDECOMP,
                    fmt::format("The run of {} elements at {} leaves the array, which has {} "
                                "elements; offsets count from 0, and -1 leaves elements out.",
                                run.length, run.start, elements_));
    }
    if (run.start >= 0 && length > 0) {
      Piece* const last = pieces.empty() ? nullptr : &pieces.back();
      if (last && last->file + last->length == start && last->buffer + last->length == count_) {
        last->length += length;
      } else {
        pieces.push_back({start, count_, length});
      }
    }
    count_ += length;
  }
  if (!std::is_sorted(pieces.begin(), pieces.end(), lies_before)) {
    std::sort(pieces.begin(), pieces.end(), lies_before);
  }
  refuse_repeated(pieces);
  pieces.shrink_to_fit();
  pieces_ = std::make_shared<const std::vector<Piece>>(std::move(pieces));
}

RunList Decomposition::of_all_in_my_range() const {
  std::vector<int> all(static_cast<std::size_t>(comm_.size()));
  std::iota(all.begin(), all.end(), 0);
  if (!have_memory_to_plan(comm_, pieces_->size(), all)) {
    throw failure_of(std::make_exception_ptr(std::bad_alloc()), SLABMARK_EARGUMENT);
  }
  RunList mine;
  for (const Piece& piece : *pieces_) append(mine, {piece.file, piece.length});
  return runs_in_my_range(comm_, mine, elements_);
}

void Decomposition::refuse_shared(const std::string& name) const {
  const RunList runs = of_all_in_my_range();
  agreed(comm_, SLABMARK_EOVERLAP, [&] {
    const auto shared = find_overlap(runs);
    if (shared) throw written_by_several(*shared, name);
  });
}

const PiecesPtr& Decomposition::holes() {
  if (holes_) return holes_;
  const Run range = equal_range(elements_, static_cast<std::uint64_t>(comm_.rank()),
                                static_cast<std::uint64_t>(comm_.size()));
  std::vector<Piece> holes;
  std::uint64_t end = range.offset;
  const auto leave_out = [&](std::uint64_t hole_end) {
    for (; end < hole_end; end += holes.back().length) {
      holes.push_back({end, 0, std::min(hole_end - end, most_fill)});
    }
  };
  for (const Run& run : of_all_in_my_range()) {
    leave_out(run.offset);
    end = std::max(end, run.end());
  }
  leave_out(range.end());
  holes_ = std::make_shared<const std::vector<Piece>>(std::move(holes));
  return holes_;
}

}  // namespace slabmark::rearrange
