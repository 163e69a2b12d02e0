#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <hdf5.h>

#include "storage/hdf5/handle.hpp"

namespace slabmark {

/// A dataset of one dimension that grows, compressed where HDF5 and this build have deflate.
class GrowingDataset {
 public:
  /// How its numbers are in the file and in memory; both have the same size.
  struct NumberTypes {
    hid_t in_file, in_memory;
  };
  /// Throws IoError, as all functions do.
  GrowingDataset(const hdf5::Handle& file, const char* name, std::string path, NumberTypes types);

  /// Of whole numbers. Some are kept, until end() at the latest.
  void add(std::span<const std::byte> bytes);
  void end();

  std::uint64_t length() const { return added_ / number_bytes_; }  ///< in numbers

 private:
  void write(std::size_t bytes);
  void write_compressed(std::size_t bytes);

  std::string path_;
  hid_t in_memory_;
  std::size_t number_bytes_;
  bool is_compressed_here_;  ///< on all cores, where HDF5 would use one
  std::size_t at_once_;      ///< bytes in whole chunks
  hdf5::Handle dataset_;
  std::vector<std::byte> held_;
  std::uint64_t written_ = 0, added_ = 0;  ///< in bytes
};

}  // namespace slabmark
