#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <hdf5.h>

#include "core/geometry/extent.hpp"

namespace slabmark::hdf5 {

/// A chunk as a file holds it.
struct StoredChunk {
  Extent first;               ///< coordinates of its first element
  std::uint64_t bytes = 0;    ///< after filters
  std::uint32_t mask = 0;     ///< bit i: filter i of the dataset was left out
  std::uint64_t address = 0;  ///< byte of the file
};

/// All chunks of a dataset that have space, in the order of HDF5's index.
std::vector<StoredChunk> stored_chunks(hid_t dataset, const std::string& path);

/// Calls `enter`, which gives a chunk space by writing the bytes at `data` there, and returns the
/// address that HDF5 chose; see allocate_chunks().
std::uint64_t chunk_address(const std::string& path,
                            const std::function<herr_t(const void* data)>& enter);

/// Gives each chunk space in the file and enters it into the index, whatever its kind, as
/// H5Dwrite_chunk does, and stores its `address`; a chunk that there was gives up its space if it
/// had another size. Nothing is written to that space: others do so afterwards. The file's driver
/// must leave placeholders out (leave_out_placeholders(), or takes_placeholder() in a driver of the
/// caller's; IoError otherwise). In a file that several ranks have open, all of them make the same
/// call.
void allocate_chunks(hid_t dataset, std::span<StoredChunk> chunks, const std::string& path);

}  // namespace slabmark::hdf5
