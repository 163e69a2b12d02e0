#pragma once

#include <cstddef>
#include <vector>

#include "accel/hdf5_connector/log/data_file.hpp"

namespace slabmark::slablog {

/// Those of `n` boxes, which lie in memory one box after another. Throws Refusal where one leaves
/// the dataset.
Elements boxes(const LogDataset& dataset, std::size_t n, const hsize_t* const* starts,
               const hsize_t* const* counts);

/// Into the file's buffer.
void write_elements(DataFile& file, LogDataset& dataset, hid_t memory_type,
                    const Elements& elements, hid_t list, const void* data);
/// What this rank wrote itself, else what was flushed, else the fill value.
void read_elements(DataFile& file, LogDataset& dataset, hid_t memory_type, const Elements& elements,
                   hid_t list, void* data);
/// What the program has in memory for those elements that are pending, before HDF5 reads them.
/// Where it has no space for an element yet it fills all of that, also members that the file does
/// not have.
std::vector<std::byte> kept_of_pending(LogDataset& dataset, hid_t memory_type,
                                       const Elements& elements, const void* data);
/// Only what this rank wrote itself and has pending, over what HDF5 has read already, or if it is
/// not empty, over what was kept.
void read_pending(DataFile& file, LogDataset& dataset, hid_t memory_type, const Elements& elements,
                  hid_t list, void* data, const std::vector<std::byte>& kept);

/// Consecutive elements of two lists of as many, in which the n-th of one stands for the n-th of
/// the other: offsets of the first, positions of the second.
LogRuns paired(const RunList& offsets, const RunList& positions);

}  // namespace slabmark::slablog
