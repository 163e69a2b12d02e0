#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "accel/hdf5_connector/canonical/canonical_dataset.hpp"
#include "collective/filters/filtered_flush.hpp"
#include "storage/posix/file.hpp"

namespace slabmark::slablog {

/// The chunks of a file that all ranks have open in HDF5, each dataset of a flush by the offset
/// that stands for it. Space is given to chunks by all ranks together, which keep HDF5's index in
/// step; the bytes go past HDF5.
class ChunkFile : public ChunkStore {
 public:
  using Datasets = std::map<std::uint64_t, CanonicalDataset*>;

  /// Both must live as long. `left_out`: see left_out_of_chunk_addresses().
  ChunkFile(const Comm& comm, posix::File& file, std::uint64_t left_out)
      : comm_(comm), file_(file), left_out_(left_out) {}

  /// The datasets of the next flush, by offset.
  void set(Datasets datasets) { datasets_ = std::move(datasets); }

  void look_up(std::vector<FilteredChunk>& chunks) override;
  void allocate(std::vector<FilteredChunk>& chunks) override;
  void read(std::uint64_t address, std::byte* memory, std::uint64_t bytes) override;
  void write(std::uint64_t address, std::byte* memory, std::uint64_t bytes) override {
    file_.write_at(address, memory, bytes);
  }

 private:
  /// A chunk's dataset, and the coordinates of its first element.
  struct Found {
    CanonicalDataset& dataset;
    Extent first;
    bool filtered;  ///< it goes through filters
  };
  Found find(const FilteredChunk& chunk) const;
  /// Gives it space and sets its address.
  void enter(FilteredChunk& chunk);
  /// The same of the only chunk of its dataset in a flush.
  void enter_alone(FilteredChunk& chunk);

  const Comm& comm_;
  posix::File& file_;
  std::uint64_t left_out_;
  Datasets datasets_;
};

}  // namespace slabmark::slablog
