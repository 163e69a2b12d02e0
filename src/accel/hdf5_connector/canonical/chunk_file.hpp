#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "accel/hdf5_connector/under.hpp"
#include "collective/filters/filtered_flush.hpp"
#include "storage/posix/file.hpp"

namespace slabmark::slablog {

/// The one chunk of a dataset, at most, that HDF5 reads by another mask than it has: see
/// ChunkFile::allocate().
struct MisreadChunk {
  std::vector<hsize_t> first;  ///< coordinates of its first element
  StoredChunk stored;
};

/// What all must know of a dataset in chunks, to which they bring elements.
struct Chunked {
  void* under = nullptr;  ///< the dataset below the connector
  hid_t connector = H5I_INVALID_HID;
  const ChunkGrid* grid = nullptr;
  std::uint64_t parts = 1;  ///< see CanonicalDataset
  hdf5::FilterPipeline* pipeline = nullptr;
  std::optional<MisreadChunk>* misread = nullptr;  ///< kept up to date
};

/// The chunks of a file that all ranks have open in HDF5, each dataset of a flush by the offset
/// that stands for it. Space is given to chunks by all ranks together, which keep HDF5's index in
/// step; the bytes go past HDF5.
class ChunkFile : public ChunkStore {
 public:
  /// Both must live as long. `left_out`: see left_out_of_chunk_addresses().
  ChunkFile(const Comm& comm, posix::File& file, std::uint64_t left_out)
      : comm_(comm), file_(file), left_out_(left_out) {}

  void set(std::map<std::uint64_t, Chunked> datasets) { datasets_ = std::move(datasets); }

  void look_up(std::vector<FilteredChunk>& chunks) override;
  void allocate(std::vector<FilteredChunk>& chunks) override;
  void read(std::uint64_t address, std::byte* memory, std::uint64_t bytes) override;
  void write(std::uint64_t address, std::byte* memory, std::uint64_t bytes) override {
    file_.write_at(address, memory, bytes);
  }

 private:
  /// A chunk's dataset, and the coordinates of its first element.
  struct Found {
    std::uint64_t offset;  ///< of the dataset
    const Chunked& dataset;
    std::vector<hsize_t> first;
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
  std::map<std::uint64_t, Chunked> datasets_;  ///< by offset
};

}  // namespace slabmark::slablog
