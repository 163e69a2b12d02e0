#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "storage/hdf5/dataset.hpp"
#include "storage/hdf5/handle.hpp"

namespace slabmark::hdf5 {

/// Puts `text`, which is not empty, on a dataset or group that has no attribute of that name: one
/// string of its length. Collective in a parallel file.
void put_attribute(hid_t object, const std::string& name, const std::string& text,
                   const std::string& path);

// Attributes of an open group or dataset; `path` is the file's, for messages. One that exists with
// the same shape is overwritten.

void write_attribute(hid_t object, const std::string& name, std::span<const double> values,
                     const std::string& path);
void write_attribute(hid_t object, const std::string& name, std::span<const std::int64_t> values,
                     const std::string& path);
void write_attribute(hid_t object, const std::string& name, std::int64_t value,
                     const std::string& path);  ///< a scalar
/// A fixed-length ASCII string, which is what VTK asks for.
void write_attribute(hid_t object, const std::string& name, std::string_view text,
                     const std::string& path);

/// Makes `dataset` a dimension scale of that name (H5DSset_scale): coordinates along a dimension.
void make_scale(const Dataset& dataset, const std::string& name, const std::string& path);
/// Gives dimension `dimension` of `dataset` the coordinates in `scale` (H5DSattach_scale).
void attach_scale(const Dataset& dataset, const Dataset& scale, unsigned dimension,
                  const std::string& path);

}  // namespace slabmark::hdf5
