#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "storage/hdf5/dataset.hpp"
#include "storage/hdf5/handle.hpp"

namespace slabmark::hdf5 {

// Attributes of an open group or dataset; `path` is the file's, for messages. Collective in a
// parallel file.

/// Puts texts, which are not empty, on an object that has no attributes of their names: each one
/// string of its length.
void put_attributes(hid_t object, std::span<const Attribute> attributes, const std::string& path);

/// Any attribute. One that exists with the same shape is overwritten, here and below.
void write_attribute(hid_t object, const std::string& name, hid_t type, const Space& space,
                     const void* data, const std::string& path);

/// A fixed-length ASCII string, which is what VTK asks for.
void write_attribute(hid_t object, const std::string& name, std::string_view text,
                     const std::string& path);

/// A UTF-8 string of variable length.
void write_variable_text(hid_t object, const std::string& name, const std::string& text,
                         const std::string& path);

/// The values of an attribute that exists; none where it holds something else than whole numbers.
std::vector<long long> read_whole_numbers(hid_t object, const std::string& name,
                                          const std::string& path);

/// Strings of `bytes` bytes, or H5T_VARIABLE.
Handle text_type(std::size_t bytes, const std::string& path);

template <class Number>
hid_t type_of_number() {
  if constexpr (std::same_as<Number, double>) return H5T_NATIVE_DOUBLE;
  if constexpr (std::same_as<Number, std::int64_t>) return H5T_NATIVE_INT64;
  if constexpr (std::same_as<Number, std::uint64_t>) return H5T_NATIVE_UINT64;
}

/// A line of numbers, or one as a scalar.
template <class Number>
void write_attribute(hid_t object, const std::string& name, std::span<const Number> values,
                     const std::string& path) {
  write_attribute(object, name, type_of_number<Number>(), Space(Extent{values.size()}),
                  values.data(), path);
}
template <class Number>
  requires std::is_arithmetic_v<Number>
void write_attribute(hid_t object, const std::string& name, Number value, const std::string& path) {
  write_attribute(object, name, type_of_number<Number>(), Space(Extent{}), &value, path);
}

/// Makes `dataset` a dimension scale of that name (H5DSset_scale): coordinates along a dimension.
void make_scale(const Dataset& dataset, const std::string& name, const std::string& path);
/// Gives dimension `dimension` of `dataset` the coordinates in `scale` (H5DSattach_scale).
void attach_scale(const Dataset& dataset, const Dataset& scale, unsigned dimension,
                  const std::string& path);

}  // namespace slabmark::hdf5
