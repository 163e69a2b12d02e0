#pragma once

#include <cstdint>

#include "slablog/log_dataset.hpp"
#include "slablog/under.hpp"

namespace slabmark::slablog {

/// Whether the view of a dataset shows all that the log holds of it after so many flushes.
bool is_current(const Location& location, const LogDataset& dataset, std::uint64_t flushes);

/// Makes what is called new_view_name() the view, which is current then. So one that can be seen is
/// complete, and the one before it stays until then.
void publish_view(const Location& location, const LogDataset& dataset, std::uint64_t flushes);

/// Makes the view of `dataset` a virtual dataset whose mappings lead to the segments of the log, so
/// that any HDF5 program reads it. `file` is that of `location`, open in this process alone and
/// without this connector.
void write_virtual_view(hid_t file, const Location& location, LogDataset& dataset,
                        std::uint64_t flushes);

}  // namespace slabmark::slablog
