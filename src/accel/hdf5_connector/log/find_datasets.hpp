#pragma once

#include <functional>
#include <memory>
#include <string>

#include "accel/hdf5_connector/log/log_dataset.hpp"

namespace slabmark::slablog {

/// The number in the log of a dataset with this creation list, or nothing for an ordinary dataset.
std::optional<std::uint64_t> number_of(hid_t creation);

/// A dataset of the log, from what HDF5 says of it. `type` is copied.
std::shared_ptr<LogDataset> describe(std::uint64_t number, hid_t type, hid_t space, hid_t creation);

/// Calls `visit` for each dataset of the log that can be reached in an open file, with its path.
void for_each_log_dataset(
    hid_t file, const std::function<void(const std::string&, std::shared_ptr<LogDataset>)>& visit);

}  // namespace slabmark::slablog
