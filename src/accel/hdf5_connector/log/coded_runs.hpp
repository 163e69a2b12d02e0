#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "accel/hdf5_connector/log/index.hpp"
#include "accel/hdf5_connector/log/log_run.hpp"

namespace slabmark::slablog {

/// The runs of an entry of the index, left as they are coded, with marks from which decoding can
/// begin. So a reader decodes what it needs, and holds a tenth of a byte a run besides the index.
/// Where the index has marks of its own, runs are read block by block when they are needed.
class CodedRuns {
 public:
  /// One look at all of the entry, which has runs and is in the index `place` of `flush`. The
  /// memory of the index, or its file, must live as long. Throws IoError where the runs do not fit
  /// into the extent; those of an entry in a file are looked at when they are read, by whatever
  /// needs them.
  CodedRuns(const IndexEntry& entry, std::uint64_t flush, std::size_t element_bytes,
            const std::string& place);

  /// The first element that any run has.
  std::uint64_t first_offset() const { return first_; }
  /// One past the last element that any run has, and one past the last element of the segment.
  std::uint64_t end() const { return end_; }
  std::uint64_t segment_end() const { return segment_end_; }

  std::uint32_t source() const { return source_; }
  std::uint64_t count() const { return runs_; }

  /// True if the runs are the same, and lie at the same elements of the same flush's segment.
  bool operator==(const CodedRuns& other) const;

  /// Elements of a run, on the average.
  std::uint64_t mean_length() const { return (segment_end_ - marks_.front().element) / runs_; }

  /// Drops the elements from `elements` on.
  void limit(std::uint64_t elements) { end_ = std::min(end_, elements); }

  /// Where in the segment those elements of the dataset are that lie in `wanted`; it may say more,
  /// up to the next marks.
  Run segment_part(Run wanted) const;

  class Cursor;
  /// At the first run that ends after `offset`.
  Cursor begin(std::uint64_t offset = 0) const;
  LogRuns decoded() const;

  /// The marks, as an index keeps them to be read without the runs; `before` bytes of the entry
  /// come before its runs.
  std::vector<std::byte> coded_marks(std::uint64_t before) const;

 private:
  /// Where a run begins that is the first of `runs_a_mark`.
  struct Mark {
    std::uint64_t offset;   ///< end of the run before
    std::uint64_t element;  ///< of the segment
    std::uint64_t byte;     ///< of the coded runs
  };
  static constexpr std::uint64_t runs_a_mark = 256;
  static constexpr std::uint64_t marks_a_block = 64;  // some 32 KiB, which take a call's time
  struct Stored;

  Mark end_mark() const;
  void read_marks(const IndexEntry& entry, const std::string& place);
  void fetch(std::uint64_t mark) const;
  void fetch_all() const;
  const Mark& mark_before(std::uint64_t offset) const;

  std::span<const std::byte> coded_;
  std::uint64_t runs_;
  std::size_t element_bytes_;
  std::uint32_t source_;
  std::uint64_t first_ = 0;
  std::uint64_t end_ = 0;
  std::uint64_t segment_end_ = 0;
  std::vector<Mark> marks_;
  std::shared_ptr<Stored> stored_;  ///< if the runs are read when they are needed
};

/// Goes through the runs, and decodes some at a time.
class CodedRuns::Cursor {
 public:
  Cursor(const CodedRuns& all, std::uint64_t offset);

  bool at_end() const { return run_ == count_; }
  const LogRun& run() const { return decoded_[run_]; }
  void next() {
    if (++run_ == count_) decode();
  }
  /// Goes on to the first run that ends after `offset`.
  void seek(std::uint64_t offset);

 private:
  void go_to(const Mark& mark);
  void decode();
  void cut();

  const CodedRuns* all_;
  const std::byte* at_ = nullptr;
  std::uint64_t next_ = 0;  ///< number of the first run that is not decoded yet
  LogRun before_;           ///< the run before that
  std::array<LogRun, 32> decoded_;
  std::size_t count_ = 0;  ///< of them
  std::size_t run_ = 0;
};

inline CodedRuns::Cursor CodedRuns::begin(std::uint64_t offset) const { return {*this, offset}; }

}  // namespace slabmark::slablog
