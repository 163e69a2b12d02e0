#pragma once

#include <string>

#include "accel/hdf5_connector/canonical/canonical_dataset.hpp"
#include "accel/hdf5_connector/log/reader.hpp"

namespace slabmark::slablog {

/// Writes what is pending of a dataset to its places in a file that only this process has open.
/// Elements of a contiguous dataset go past HDF5, near ones in one call, after what lies between
/// them was read. Chunks are written by HDF5, which gets each whole and once, whatever the order of
/// the program's writes.
void write_alone(ElementFiles& files, CanonicalDataset& dataset, const std::string& path);

}  // namespace slabmark::slablog
