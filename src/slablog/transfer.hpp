#pragma once

#include <cstddef>

#include "slablog/log_file.hpp"

namespace slabmark::slablog {

/// The elements of one call of this rank, in one order: where they are in the dataset, and where
/// in the memory of the caller.
struct Elements {
  RunList in_dataset;
  RunList in_memory;
};

/// Those of an H5Dwrite or H5Dread of a dataset of `extent`. Throws Refusal, as HDF5 does, where
/// they leave it.
Elements selected(const Extent& extent, hid_t memory, hid_t file);
/// Those of `n` boxes, which lie in memory one box after another. Throws Refusal where one leaves
/// the dataset.
Elements boxes(const LogDataset& dataset, std::size_t n, const hsize_t* const* starts,
               const hsize_t* const* counts);

/// Into the log's buffer.
void write_elements(LogFile& log, LogDataset& dataset, hid_t memory_type, const Elements& elements,
                    hid_t list, const void* data);
/// What this rank wrote itself, else what was flushed, else the fill value.
void read_elements(LogFile& log, LogDataset& dataset, hid_t memory_type, const Elements& elements,
                   hid_t list, void* data);

}  // namespace slabmark::slablog
