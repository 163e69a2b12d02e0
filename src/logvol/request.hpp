#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "geometry/bitmap.hpp"
#include "logvol/log_run.hpp"

namespace slabmark::logvol {

/// Goes through a list of runs, as CodedRuns::Cursor does.
class ListCursor {
 public:
  explicit ListCursor(std::span<const LogRun> runs) : rest_(runs) {}

  bool at_end() const { return rest_.empty(); }
  const LogRun& run() const { return rest_.front(); }
  void next() { rest_ = rest_.subspan(1); }
  void seek(std::uint64_t offset) {
    const auto first = first_that_ends_after(rest_.begin(), rest_.end(), offset);
    rest_ = rest_.subspan(static_cast<std::size_t>(first - rest_.begin()));
  }

 private:
  std::span<const LogRun> rest_;
};

/// Ascending wishes without overlap, and which of their elements were found so far. Takes one bit
/// an element and eight bytes a wish.
class Request {
 public:
  Request(std::span<const Wish> wishes, std::size_t element_bytes);

  bool complete() const { return missing_ == 0; }
  std::uint64_t begin() const { return wishes_.front().offset; }
  std::uint64_t end() const { return wishes_.back().end(); }

  /// Offers runs, ascending and without overlap, that are older than all that were offered before:
  /// `take(part, target)` gets each part of them that is wished and was not found yet.
  template <class Cursor, class Take>
  void offer(Cursor runs, const Take& take) {
    auto wish = wishes_.begin();
    while (!runs.at_end()) {
      const auto offset = runs.run().offset;
      const auto end = runs.run().end();
      if (wish->end() <= offset) {
        wish = first_that_ends_after(wish, wishes_.end(), offset);
        if (wish == wishes_.end()) return;
      }
      if (wish->offset >= end) {
        runs.seek(wish->offset);
        continue;
      }
      for (auto next = wish; next != wishes_.end() && next->offset < end; ++next) {
        take_common(runs.run(), next, take);
      }
      runs.next();
    }
  }

  /// Calls `visit` with each part of a wish that was not found.
  template <class Visit>
  void for_each_missing(const Visit& visit) {
    if (complete()) return;
    for (auto wish = wishes_.begin(); wish != wishes_.end(); ++wish) {
      const auto bit = bit_of(wish);
      found_.set_rest(bit, bit + wish->length, [&](std::uint64_t from, std::uint64_t to) {
        visit(Wish{wish->offset + (from - bit), to - from,
                   wish->target + (from - bit) * element_bytes_});
      });
    }
    missing_ = 0;
  }

 private:
  using Position = std::span<const Wish>::iterator;

  std::uint64_t bit_of(Position wish) const {
    return bits_[static_cast<std::size_t>(wish - wishes_.begin())];
  }

  template <class Take>
  void take_common(const LogRun& run, Position wish, const Take& take) {
    const auto from = std::max(run.offset, wish->offset);
    const auto to = std::min(run.end(), wish->end());
    if (from == to) return;
    const auto bit = bit_of(wish) + (from - wish->offset);
    const auto end = bit + (to - from);
    auto* target = wish->target + (from - wish->offset) * element_bytes_;
    if (to - from <= 64 && found_.set_few(bit, to - from)) {
      missing_ -= to - from;
      take(part_of(run, from, to, element_bytes_), target);
      return;
    }
    found_.set_rest(bit, end, [&](std::uint64_t first, std::uint64_t last) {
      missing_ -= last - first;
      take(part_of(run, from + (first - bit), from + (last - bit), element_bytes_),
           target + (first - bit) * element_bytes_);
    });
  }

  std::span<const Wish> wishes_;
  std::size_t element_bytes_;
  std::vector<std::uint64_t> bits_;  ///< of the first element of each wish
  std::uint64_t missing_ = 0;        ///< elements
  Bitmap found_;
};

/// Divides wishes of any order into requests of at most `most_elements` (> 0) and calls `visit`
/// with each. Sorts the wishes.
void for_each_request(std::vector<Wish> wishes, std::size_t element_bytes,
                      std::uint64_t most_elements, const std::function<void(Request&)>& visit);

}  // namespace slabmark::logvol
