#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "convert/batches.hpp"
#include "convert/source.hpp"
#include "core/parallel/worker_thread.hpp"

namespace slabmark::convert {

/// A rank's shares of a batch, and their elements.
struct Shares {
  std::vector<Run> runs;
  std::vector<std::byte> memory;
};

/// Reads the elements of those shares.
void read(Source& source, const Batch& batch, Shares& shares);

/// Reads the shares of a rank, batch after batch. Where the source permits it, a thread reads those
/// of the next batch while the caller works on this one.
class ReadAhead {
 public:
  /// From batch `first` on. Shares are cut at the stored chunks of `cuts`, which else are the
  /// source's contents. All must outlive it.
  ReadAhead(Source& source, const FileContents& cuts, const std::vector<Batch>& batches,
            std::uint64_t rank, std::uint64_t ranks, std::size_t first = 0);

  /// Shares of the next batch, until the following call. Throws what reading threw.
  Shares& next();

 private:
  void read_batch(std::size_t batch, Shares& shares) const;

  Source& source_;
  const FileContents& cuts_;
  const std::vector<Batch>& batches_;
  std::uint64_t rank_, ranks_;
  std::size_t batch_;
  Shares now_, later_;
  std::uint64_t reading_ = 0;           ///< the number of the thread's work
  std::optional<WorkerThread> thread_;  ///< goes before what it reads into
};

}  // namespace slabmark::convert
