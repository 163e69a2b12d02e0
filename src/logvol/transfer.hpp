#pragma once

#include <cstddef>

#include "logvol/log_file.hpp"

namespace slabmark::logvol {

/// One H5Dwrite of this rank: into the log's buffer. Ids as H5Dwrite has them.
void write_selection(LogFile& log, LogDataset& dataset, hid_t memory_type, hid_t memory, hid_t file,
                     hid_t list, const void* data);

/// One H5Dread of this rank: what it wrote itself, else what was flushed, else the fill value.
void read_selection(LogFile& log, LogDataset& dataset, hid_t memory_type, hid_t memory, hid_t file,
                    hid_t list, void* data);

/// `n` boxes, whose elements lie in `data` one box after another. Throws Refusal where one leaves
/// the dataset, and then nothing is written.
void write_boxes(LogFile& log, LogDataset& dataset, hid_t memory_type, std::size_t n,
                 const hsize_t* const* starts, const hsize_t* const* counts, hid_t list,
                 const void* data);
void read_boxes(LogFile& log, LogDataset& dataset, hid_t memory_type, std::size_t n,
                const hsize_t* const* starts, const hsize_t* const* counts, hid_t list, void* data);

}  // namespace slabmark::logvol
