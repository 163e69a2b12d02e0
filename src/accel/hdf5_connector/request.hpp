#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "accel/hdf5_connector/log/log_run.hpp"
#include "core/geometry/bitmap.hpp"

namespace slabmark::slablog {

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

/// Ascending reads without overlap, and which of their elements were found so far. Takes one bit
/// an element and eight bytes a read.
class Request {
 public:
  Request(std::span<const ReadRun> reads, std::size_t element_bytes);

  bool complete() const { return missing_ == 0; }
  std::uint64_t begin() const { return reads_.front().offset; }
  std::uint64_t end() const { return reads_.back().end(); }

  /// Offers runs, ascending and without overlap, that are older than all that were offered before:
  /// `take(part, target)` gets each part of them that is wanted and was not found yet.
  template <class Cursor, class Take>
  void offer(Cursor runs, const Take& take) {
    auto read = reads_.begin();
    while (!runs.at_end()) {
      const auto offset = runs.run().offset;
      const auto end = runs.run().end();
      if (read->end() <= offset) {
        read = first_that_ends_after(read, reads_.end(), offset);
        if (read == reads_.end()) return;
      }
      if (read->offset >= end) {
        runs.seek(read->offset);
        continue;
      }
      for (auto next = read; next != reads_.end() && next->offset < end; ++next) {
        take_common(runs.run(), next, take);
      }
      runs.next();
    }
  }

  /// Calls `visit` with each part of a read that was not found.
  template <class Visit>
  void for_each_missing(const Visit& visit) {
    if (complete()) return;
    for (auto read = reads_.begin(); read != reads_.end(); ++read) {
      const auto bit = bit_of(read);
      found_.set_rest(bit, bit + read->length, [&](std::uint64_t from, std::uint64_t to) {
        visit(ReadRun{read->offset + (from - bit), to - from,
                      read->target + (from - bit) * element_bytes_});
      });
    }
    missing_ = 0;
  }

 private:
  using Position = std::span<const ReadRun>::iterator;

  std::uint64_t bit_of(Position read) const {
    return bits_[static_cast<std::size_t>(read - reads_.begin())];
  }

  template <class Take>
  void take_common(const LogRun& run, Position read, const Take& take) {
    const auto from = std::max(run.offset, read->offset);
    const auto to = std::min(run.end(), read->end());
    if (from == to) return;
    const auto bit = bit_of(read) + (from - read->offset);
    const auto end = bit + (to - from);
    auto* target = read->target + (from - read->offset) * element_bytes_;
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

  std::span<const ReadRun> reads_;
  std::size_t element_bytes_;
  std::vector<std::uint64_t> bits_;  ///< of the first element of each read
  std::uint64_t missing_ = 0;        ///< elements
  Bitmap found_;
};

/// Divides reads of any order into requests of at most `most_elements` (> 0) and calls `visit`
/// with each. Sorts the reads.
void for_each_request(std::vector<ReadRun> reads, std::size_t element_bytes,
                      std::uint64_t most_elements, const std::function<void(Request&)>& visit);

}  // namespace slabmark::slablog
