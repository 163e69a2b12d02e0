#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "logvol/index.hpp"
#include "logvol/log_run.hpp"

namespace slabmark::logvol {

/// The runs of an entry of the index, left as they are coded, with marks from which decoding can
/// begin. So a reader decodes what it needs, and holds a tenth of a byte a run besides the index.
class CodedRuns {
 public:
  /// One look at all of the entry, which is in the index `place` of `flush`. The memory of the
  /// index must live as long. Throws IoError where the runs do not fit into the extent.
  CodedRuns(const IndexEntry& entry, std::uint64_t flush, std::size_t element_bytes,
            const std::string& place);

  /// One past the last element that any run has, and one past the last element of the segment.
  std::uint64_t end() const { return end_; }
  std::uint64_t segment_end() const { return segment_end_; }

  /// Drops the elements from `elements` on.
  void limit(std::uint64_t elements) { end_ = std::min(end_, elements); }

  class Cursor;
  Cursor begin() const;
  LogRuns decoded() const;

 private:
  /// Where a run begins that is the first of `runs_a_mark`.
  struct Mark {
    std::uint64_t offset;   ///< end of the run before
    std::uint64_t element;  ///< of the segment
    std::uint64_t byte;     ///< of the coded runs
  };
  static constexpr std::uint64_t runs_a_mark = 256;

  std::span<const std::byte> coded_;
  std::uint64_t runs_;
  std::size_t element_bytes_;
  std::uint32_t source_;
  std::uint64_t end_ = 0;
  std::uint64_t segment_end_ = 0;
  std::vector<Mark> marks_;
};

/// Goes through the runs from the first on.
class CodedRuns::Cursor {
 public:
  explicit Cursor(const CodedRuns& all);

  bool at_end() const { return at_end_; }
  const LogRun& run() const { return run_; }
  void next();
  /// Goes on to the first run that ends after `offset`.
  void seek(std::uint64_t offset);

 private:
  void go_to(const Mark& mark);
  std::uint64_t number();

  const CodedRuns* all_;
  const std::byte* at_ = nullptr;
  std::uint64_t next_ = 0;  ///< number of the next run
  LogRun run_;
  bool at_end_ = false;
};

inline std::uint64_t CodedRuns::Cursor::number() {
  // The constructor saw that the bytes are in order.
  auto byte = std::to_integer<std::uint64_t>(*at_++);
  auto value = byte & 0x7f;
  for (int shift = 7; byte >= 0x80; shift += 7) {
    byte = std::to_integer<std::uint64_t>(*at_++);
    value |= (byte & 0x7f) << shift;
  }
  return value;
}

inline void CodedRuns::Cursor::next() {
  if (next_ == all_->runs_) {
    at_end_ = true;
    return;
  }
  ++next_;
  run_.position += run_.length * all_->element_bytes_;
  run_.offset = run_.end() + number();
  run_.length = number();
  if (run_.end() <= all_->end_) return;
  at_end_ = run_.offset >= all_->end_;
  run_.length = at_end_ ? 0 : all_->end_ - run_.offset;
}

inline CodedRuns::Cursor CodedRuns::begin() const { return Cursor(*this); }

}  // namespace slabmark::logvol
