#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/geometry/extent.hpp"
#include "storage/hdf5/handle.hpp"

namespace slabmark::hdf5 {

/// One element as HDF5 stores it where nothing was written to a dataset in chunks: zeros where it
/// would leave it to chance.
std::vector<std::byte> stored_fill(hid_t type, hid_t creation);

/// Lengths of the chunks of a dataset with chunks, by its creation list.
Extent chunk_of(hid_t creation);

/// True if chunks that reach beyond the dataset go through the filters as well: not with
/// H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS.
bool filters_edges(hid_t creation);

/// The filters of a dataset, run by HDF5 itself over one chunk in memory. HDF5 has no call for
/// that; here it writes the only chunk of a dataset to a file in memory, whose driver takes the
/// filtered bytes away before they are stored, and hands them out when the chunk is read.
class FilterPipeline {
 public:
  /// `type` is that of the elements in the file; `creation` says of a dataset with chunks which
  /// filters it has, as it was given to HDF5 or as H5Dget_create_plist returns it. Throws IoError
  /// where HDF5 makes no such dataset, because a filter is missing or refuses type or chunk.
  FilterPipeline(hid_t type, hid_t creation);
  /// That of chunks without filters, which needs nothing of HDF5.
  FilterPipeline(std::size_t chunk_bytes, std::vector<std::byte> fill);
  ~FilterPipeline();
  FilterPipeline(FilterPipeline&&) noexcept;
  FilterPipeline& operator=(FilterPipeline&&) noexcept;

  bool has_filters() const { return filters_ > 0; }
  std::size_t chunk_bytes() const { return chunk_bytes_; }  ///< unfiltered
  bool filters_edges() const { return filters_edges_; }
  std::span<const std::byte> fill() const { return fill_; }

  struct Filtered {
    std::span<const std::byte> bytes;  ///< in the room, or without filters the chunk itself
    std::uint32_t mask = 0;            ///< bit i: the i-th filter was optional and could not do it
  };
  using Room = std::function<std::byte*(std::size_t bytes)>;
  /// Runs the chunk_bytes() at `chunk` through the filters, and puts what they make where `room`
  /// says. Throws IoError where one fails that is mandatory.
  Filtered apply(const std::byte* chunk, const Room& room);

  /// The way back: chunk_bytes() to `chunk`.
  void undo(std::span<const std::byte> filtered, std::uint32_t mask, std::byte* chunk);

 private:
  class File;
  File& reader(std::uint32_t mask);

  Handle type_, creation_;
  unsigned filters_ = 0;  ///< their number, at most 32
  std::size_t chunk_bytes_ = 0;
  std::vector<std::byte> fill_;
  bool filters_edges_ = true;
  std::unique_ptr<File> writer_;                            ///< none without filters
  std::map<std::uint32_t, std::unique_ptr<File>> readers_;  ///< by mask
};

/// The pipelines of datasets, one for all that are of one type and have the same creation list.
class PipelineCache {
 public:
  FilterPipeline& of(hid_t type, hid_t creation);

 private:
  std::map<std::string, FilterPipeline> made_;  ///< by both as HDF5 encodes them
};

}  // namespace slabmark::hdf5
