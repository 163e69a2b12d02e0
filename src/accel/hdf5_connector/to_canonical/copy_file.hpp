#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <hdf5.h>

namespace slabmark::slablog {

/// Copies a log file, open as `input` from `path` without the connector, into a new file `output`:
/// groups, links, attributes, references, committed types and the datasets outside of the log.
/// Each dataset of the log becomes a contiguous one of the same type, extent, fill value and
/// attributes, which has its space but no elements yet; dimensions that could grow are as long as
/// they are. Returns the byte of `output` at which each begins, by its number in the log. For one
/// process; throws IoError.
std::map<std::uint64_t, std::uint64_t> copy_without_log(hid_t input, const std::string& path,
                                                        const std::string& output);

}  // namespace slabmark::slablog
