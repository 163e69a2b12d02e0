#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "accel/hdf5_connector/log/log_run.hpp"
#include "core/geometry/extent.hpp"
#include "storage/posix/file.hpp"

namespace slabmark::slablog {

/// One entry of the index of a flush: what one rank wrote into one dataset
/// (docs/reference/log-layout.md). An entry without runs says that the dataset was cut to
/// `extent` before the flush.
struct IndexEntry {
  std::uint64_t dataset = 0;
  Extent extent;            ///< of the dataset when it was written
  std::uint64_t first = 0;  ///< its first element in the segment of the flush
  std::uint64_t runs = 0;
  std::span<const std::byte> coded;  ///< the runs, in the memory of the index
  std::span<const std::byte> bytes;  ///< all of the entry, there
  posix::File* file = nullptr;       ///< which has the runs, where `coded` is but their marks
  std::uint64_t address = 0;         ///< of them there
};

/// Codes ascending runs, as an entry has them. In a segment their bytes lie one after another, so
/// runs that touch become one.
class RunCoder {
 public:
  void add(Run run);
  /// Nothing may be added after that.
  std::span<const std::byte> finish();
  std::uint64_t count() const { return count_; }
  std::uint64_t elements() const { return elements_; }

 private:
  std::vector<std::byte> coded_;
  std::uint64_t count_ = 0;
  std::uint64_t elements_ = 0;
  std::uint64_t end_ = 0;  ///< of what is coded
  Run last_;               ///< not coded yet
};

/// Appends an entry of `count` runs, or of what else is coded.
void append_entry(std::vector<std::byte>& index, std::uint64_t dataset, const Extent& extent,
                  std::uint64_t first, std::uint64_t count, std::span<const std::byte> coded);
/// Appends an entry with these ascending runs, whose bytes lie in the segment one after another
/// from element `first`.
void append_entry(std::vector<std::byte>& index, std::uint64_t dataset, const Extent& extent,
                  std::uint64_t first, std::span<const LogRun> runs);

/// Calls `visit` with each entry. Throws IoError, naming `place`, where the bytes are no index.
void for_each_entry(std::span<const std::byte> index, const std::string& place,
                    const std::function<void(const IndexEntry&)>& visit);

/// Of these entries of the index of `flush`, the first of which begins at its byte `first`. It is a
/// sum over the entries, so that each rank reckons that of its own.
std::uint64_t checksum_of(std::span<const std::byte> entries, std::uint64_t flush,
                          std::uint64_t first, const std::string& place);

/// True if only the slowest dimension differs, so that elements keep their row-major places.
bool same_rows(const Extent& a, const Extent& b);

/// The same elements after the dataset's extent changed from `from` to `to`; what is outside is
/// dropped. Runs come back ascending.
LogRuns reshaped(LogRuns runs, const Extent& from, const Extent& to, std::size_t element_bytes);

}  // namespace slabmark::slablog
