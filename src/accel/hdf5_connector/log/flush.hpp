#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "accel/hdf5_connector/journal/journal.hpp"
#include "accel/hdf5_connector/log/index.hpp"
#include "accel/hdf5_connector/log/index_store.hpp"
#include "accel/hdf5_connector/log/reader.hpp"
#include "accel/hdf5_connector/ranks.hpp"
#include "storage/mpiio/file.hpp"

namespace slabmark::slablog {

using Datasets = std::map<std::uint64_t, std::shared_ptr<LogDataset>>;  ///< by their number

/// Writes into an HDF5 file past HDF5: each rank by itself, or all together through MPI-IO.
class LogWriter {
 public:
  /// All must live as long.
  LogWriter(const Ranks& ranks, posix::File& file, Journal* journal)
      : ranks_(ranks), file_(file), journal_(journal) {}

  /// Collective. From here on all ranks write together.
  void open_together();
  /// Collective.
  void close_together() { together_ = {}; }

  /// Runs `stage`, which writes, on each rank. Collective where they write together.
  void run(const std::function<void()>& stage);
  /// Within run(). HDF5 gives out again what was freed since the last commit, to which a crash goes
  /// back; so the journal keeps it.
  void write(std::uint64_t address, const std::byte* data, std::uint64_t bytes);

 private:
  void join();

  const Ranks& ranks_;
  posix::File& file_;
  Journal* journal_;
  mpiio::File together_;
};

/// The pending elements of all ranks.
class Flush {
 public:
  /// Collective. `datasets`: those that this rank knows, of `count`; `cuts`: entries for the index.
  Flush(const Ranks& ranks, const Datasets& datasets, std::uint64_t count,
        std::span<const std::byte> cuts);

  bool is_empty() const;
  /// Collective. Puts it into new segments and a new index. Where that fails on any rank, the file
  /// is as before on all, and all throw the same IoError.
  void write(const Location& location, ElementFiles& files, LogWriter& writer, IndexStore& index);

 private:
  struct Segment {
    LogDataset* dataset;    ///< which has something pending
    std::uint64_t address;  ///< of the first byte of this rank
    std::uint64_t first;    ///< its first element in the segment
    std::uint64_t elements;
  };

  struct Marks {
    std::vector<std::byte> bytes;  ///< of this rank
    std::uint64_t address = 0;     ///< of its first
  };

  std::vector<Segment> make_segments(const Location& location, std::uint64_t flush) const;
  Marks make_marks(const Location& location, std::uint64_t flush, StoredIndex& index) const;
  hdf5::Handle type_of(std::uint64_t number) const;

  const Ranks& ranks_;
  const Datasets& datasets_;
  std::uint64_t count_;
  std::map<std::uint64_t, RunCoder> runs_;  ///< of this rank, by dataset
  std::vector<std::byte> entries_;          ///< of the index, of this rank
  std::vector<std::uint64_t> mine_;         ///< elements by dataset, then who knows it, then cuts
  std::vector<std::uint64_t> total_;        ///< of all ranks
  std::vector<std::uint64_t> before_;       ///< of those before this one
};

}  // namespace slabmark::slablog
