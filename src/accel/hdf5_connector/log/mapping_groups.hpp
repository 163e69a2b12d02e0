#pragma once

#include <functional>
#include <span>

#include "core/geometry/hyperslab.hpp"
#include "storage/hdf5/space.hpp"

namespace slabmark::slablog {

/// Hyperslabs that one mapping of a virtual dataset describes at most. HDF5 2.2.0 needs about 25 KB
/// of memory a mapping, so one a hyperslab is too many; but it unites the hyperslabs of a mapping
/// one by one when the dataset is opened, so one mapping for all takes quadratic time. With 10^5
/// hyperslabs of 1 to 4 elements, opening took 0.07 s with 128, 0.14 s with 256, 0.68 s with 1024.
constexpr std::size_t hyperslabs_of_mapping = 128;

/// Elements of a dataset that one mapping describes.
struct MappingGroup {
  RunList runs;           ///< ascending
  hdf5::Space selection;  ///< the same
};

/// Divides sorted and coalesced runs of a dataset into groups of at most hyperslabs_of_mapping
/// hyperslabs. Equal hyperslabs at equal distances, if they are more than that, are one regular
/// hyperslab and a group of their own: that costs HDF5 nothing.
void for_each_mapping_group(std::span<const Run> runs, const Extent& extent,
                            const std::function<void(MappingGroup&&)>& visit);

}  // namespace slabmark::slablog
