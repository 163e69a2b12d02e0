#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/geometry/run.hpp"

namespace slabmark::slablog {

/// Bytes of a log that are read, put together or written at once.
constexpr std::uint64_t window_bytes = 4 << 20;

/// Where bytes of a run lie: in this process, in its spill file, or in a segment of the log.
constexpr std::uint32_t in_memory = 0;  ///< position is an address
constexpr std::uint32_t in_spill = 1;   ///< position counts bytes of the spill file
constexpr std::uint32_t in_segment =
    2;  ///< in_segment + flush; position counts bytes of that segment

/// Consecutive elements [offset, offset + length) of a dataset in row-major order, and where their
/// bytes are.
struct LogRun {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  std::uint64_t position = 0;
  std::uint32_t source = in_memory;
  std::uint32_t call = 0;  ///< which one wrote it, of a pending run: see DataFile::begin_write()

  std::uint64_t end() const { return offset + length; }
  bool operator==(const LogRun&) const = default;
};

using LogRuns = std::vector<LogRun>;

/// The elements of the request.
RunList elements_of(std::span<const LogRun> runs);

/// Appends a run, or makes the last one longer where this one is of the same call and continues it
/// in the dataset and in its place.
void append(LogRuns& runs, const LogRun& run, std::size_t element_bytes);

/// True if the runs ascend without overlap.
bool is_sorted_apart(std::span<const LogRun> runs);

/// The part [from, to) of `run`, in elements of the dataset.
inline LogRun part_of(const LogRun& run, std::uint64_t from, std::uint64_t to,
                      std::size_t element_bytes) {
  return {from, to - from, run.position + (from - run.offset) * element_bytes, run.source,
          run.call};
}

/// Of what ascends without overlap, the first that ends after `offset`: mostly one of the next few.
template <class Iterator>
Iterator first_that_ends_after(Iterator first, Iterator last, std::uint64_t offset) {
  const auto near = first + std::min<std::ptrdiff_t>(8, last - first);
  for (; first != near; ++first) {
    if (first->end() > offset) return first;
  }
  return std::lower_bound(first, last, offset,
                          [](const auto& one, std::uint64_t at) { return one.end() <= at; });
}

/// Both lists ascend without overlap; where they overlap, `newer` holds. Neighbours whose bytes are
/// neighbours too come back as one. Linear.
LogRuns overlay(std::span<const LogRun> older, std::span<const LogRun> newer,
                std::size_t element_bytes);

/// Runs in the order in which they were written become ascending runs without overlap: the last one
/// wins. Costs nothing where they ascend already, else n log n.
LogRuns last_wins(LogRuns written, std::size_t element_bytes);

/// Lists laid one over another. Merged as they come like the digits of a binary number, so that n
/// small lists cost n log n in total and a look-up visits only log n of them.
class Layers {
 public:
  explicit Layers(std::size_t element_bytes) : element_bytes_(element_bytes) {}

  /// Puts a list (ascending, without overlap) above all others.
  void add(LogRuns newest);
  /// All in one list.
  const LogRuns& merged();
  void clear() { layers_.clear(); }
  bool empty() const { return layers_.empty(); }
  std::span<const LogRuns> lists() const { return layers_; }
  std::span<LogRuns> lists() { return layers_; }

 private:
  void merge_last_two();

  std::size_t element_bytes_;
  std::vector<LogRuns> layers_;  ///< oldest first
};

/// [offset, offset + length) of a dataset, to be read to `target`.
struct ReadRun {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  std::byte* target = nullptr;

  std::uint64_t end() const { return offset + length; }
};

/// The rest of a read after its first `elements`.
inline ReadRun after(const ReadRun& read, std::uint64_t elements, std::size_t element_bytes) {
  return {read.offset + elements, read.length - elements, read.target + elements * element_bytes};
}

/// Runs whose elements go to `target` one after another.
std::vector<ReadRun> reads_of(std::span<const Run> runs, std::byte* target,
                              std::size_t element_bytes);

/// The parts of `list` that hold elements of `wanted`. Both ascend without overlap.
LogRuns parts_within(std::span<const LogRun> list, std::span<const Run> wanted,
                     std::size_t element_bytes);

}  // namespace slabmark::slablog
