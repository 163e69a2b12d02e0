#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "geometry/hyperslab.hpp"

namespace slabmark::logvol {

/// Bytes as HDF5 keeps them in a file: numbers with the lowest byte first.
using Encoded = std::vector<std::byte>;

/// A union of boxes as HDF5 encodes a selection ("Selection: Hyperslab" of its file format, version
/// 1, and 3 where a coordinate takes more than 32 bits). Boxes come one after another, each as the
/// coordinates of its first element and then those of its last one.
Encoded encoded_union(const Extent& extent, std::span<const std::uint64_t> corners);

/// The same for one regular hyperslab (version 2).
Encoded encoded_regular(const Hyperslab& slab);

/// The mappings of a virtual dataset onto datasets of its own file, as HDF5 keeps them in the file
/// ("Global Heap Block for Virtual Datasets" of its file format, version 0).
///
/// HDF5's own way, H5Pset_virtual and H5Dcreate2, takes a selection of n hyperslabs apart and puts
/// it together several times: 90 ms for 10^5 hyperslabs, where writing these bytes takes 2 ms.
class EncodedMappings {
 public:
  /// `length_bytes`: of a length in this file (H5Pget_sizes).
  explicit EncodedMappings(std::size_t length_bytes);

  /// Elements of `from`, in the dataset `source`, stand for those of `to`.
  void add(std::string_view source, const Encoded& from, const Encoded& to);
  std::uint64_t count() const { return count_; }
  /// The block with number and checksum; to be called once.
  Encoded finish() &&;

 private:
  std::size_t length_bytes_;
  std::uint64_t count_ = 0;
  Encoded block_;
};

/// HDF5's checksum of metadata: Bob Jenkins' lookup3, hashlittle() with 0 at the start.
std::uint32_t metadata_checksum(std::span<const std::byte> bytes);

}  // namespace slabmark::logvol
