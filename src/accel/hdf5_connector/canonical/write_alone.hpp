#pragma once

#include <cstdint>

#include "accel/hdf5_connector/log/reader.hpp"

namespace slabmark::slablog {

/// Writes what is pending of a dataset to its places in a file that only this process writes: the
/// dataset is contiguous from byte `address` on. Near elements go in one call, after what lies
/// between them was read.
void write_alone(ElementFiles& files, LogDataset& dataset, std::uint64_t address);

/// The same where the dataset has chunks of the shape `chunk`: HDF5 writes them, and gets each
/// whole and once, whatever the order of the program's writes. `under` is the dataset below
/// `connector`; `unreadable`: it has no space yet, and HDF5
/// would fill none.
void write_chunks_alone(ElementFiles& files, LogDataset& dataset, const Extent& chunk, void* under,
                        hid_t connector, bool unreadable);

}  // namespace slabmark::slablog
