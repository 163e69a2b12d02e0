#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "accel/hdf5_connector/log/log_run.hpp"
#include "core/geometry/run.hpp"

namespace slabmark::slablog {

/// Runs of one length at regular distances, as regular hyperslabs have them: the groups of one
/// level are the elements of the next. Takes some ten words, however many runs there are.
class StridedRuns {
 public:
  /// Nothing where the runs are not like that, or do not ascend without overlap.
  static std::optional<StridedRuns> of(std::span<const Run> runs);

  std::uint64_t runs() const { return levels_.back().runs_below * levels_.back().count; }
  std::uint64_t length() const { return length_; }  ///< of each run
  std::uint64_t elements() const { return runs() * length_; }
  std::uint64_t begin() const { return first_; }
  std::uint64_t end() const { return offset(runs() - 1) + length_; }
  /// Of the n-th run.
  std::uint64_t offset(std::uint64_t n) const;
  /// The first run that ends after `element`; runs(): none does.
  std::uint64_t first_that_ends_after(std::uint64_t element) const;
  std::uint64_t bytes() const { return sizeof *this + levels_.capacity() * sizeof(Level); }

 private:
  struct Level {
    std::uint64_t stride;
    std::uint64_t count;
    std::uint64_t runs_below;  ///< in each of its groups
    std::uint64_t last_below;  ///< offset of the last of them from the first
  };

  StridedRuns(std::uint64_t first, std::uint64_t length) : first_(first), length_(length) {}

  std::uint64_t first_;
  std::uint64_t length_;
  std::vector<Level> levels_;  ///< the fastest first
};

/// Such runs with the place of their elements, which lie there one run after another.
struct StridedWrite {
  StridedRuns runs;
  LogRun place;  ///< of the first run

  /// Goes through them, as ListCursor does through a list.
  class Cursor {
   public:
    Cursor(const StridedWrite& write, std::size_t element_bytes, std::uint64_t element = 0)
        : write_(&write), bytes_(write.runs.length() * element_bytes) {
      seek(element);
    }

    bool at_end() const { return next_ == write_->runs.runs(); }
    const LogRun& run() const { return run_; }
    void next() { go_to(next_ + 1); }
    void seek(std::uint64_t element) { go_to(write_->runs.first_that_ends_after(element)); }

   private:
    void go_to(std::uint64_t n) {
      next_ = n;
      if (at_end()) return;
      run_ = write_->place;
      run_.offset = write_->runs.offset(n);
      run_.length = write_->runs.length();
      run_.position += n * bytes_;
    }

    const StridedWrite* write_;
    std::uint64_t bytes_;  ///< of a run
    std::uint64_t next_ = 0;
    LogRun run_;
  };
};

}  // namespace slabmark::slablog
