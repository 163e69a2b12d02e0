#pragma once

#include <string>
#include <vector>

#include "collective/conformance/program.hpp"
#include "storage/hdf5/handle.hpp"

namespace slabmark::conformance {

hdf5::Handle property_list(hid_t of_class);

/// A dataset for an array, with space from the start; one with records has one of them, which is a
/// chunk.
hdf5::Handle create_dataset(hid_t file, const Array& array, const std::string& path);

hdf5::Handle open_dataset(hid_t file, const Array& array, const std::string& path);

/// Collective: makes a dataset so many records long.
void set_records(hid_t dataset, const Array& array, std::uint64_t records, const std::string& path);

/// Boxes as HDF5 is told of them.
struct Hyperslabs {
  std::vector<std::vector<hsize_t>> starts, counts;

  Hyperslabs(const Array& array, std::uint64_t record, const RunList& runs);
};

}  // namespace slabmark::conformance
