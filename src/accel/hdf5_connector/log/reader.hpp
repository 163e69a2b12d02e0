#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "accel/hdf5_connector/log/log_dataset.hpp"
#include "storage/posix/file.hpp"

namespace slabmark::slablog {

/// Where the elements of a log are that are not in memory: in the HDF5 file, past HDF5, and in the
/// spill file of this process.
struct ElementFiles {
  posix::File hdf5;
  posix::File spill;
};

/// Reads runs of a dataset, wherever they lie, into the memory of a caller.
class Gathering {
 public:
  /// Runs in files are read as soon as there are `most`, and the last at finish().
  Gathering(ElementFiles& files, const LogDataset& dataset, std::size_t most)
      : files_(files), dataset_(dataset), size_(dataset.element_bytes()), most_(most) {}

  void add(const LogRun& run, std::byte* target);
  /// The next runs lie elsewhere. Reading now spares sorting, unless there is little yet.
  void end_of_list();
  void finish();

 private:
  struct Piece {
    std::uint64_t address;
    std::uint64_t bytes;
    std::byte* target;
  };

  void go_to(std::uint32_t source);
  void read(posix::File& file, std::vector<Piece>& pieces);

  ElementFiles& files_;
  const LogDataset& dataset_;
  std::size_t size_;
  std::size_t most_;
  std::uint32_t source_ = in_memory;      ///< of the last run
  std::vector<Piece>* pieces_ = nullptr;  ///< that come from there
  std::uint64_t base_ = 0;                ///< address of the first byte there
  std::vector<Piece> in_spill_;
  std::vector<Piece> in_file_;
  std::vector<std::byte> window_;
};

/// Fills all `reads`: from what is pending, what was flushed, and the fill value.
void read_log(ElementFiles& files, LogDataset& dataset, std::vector<ReadRun> reads);

}  // namespace slabmark::slablog
