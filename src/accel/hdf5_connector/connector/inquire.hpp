#pragma once

#include <optional>
#include <string>

#include "accel/hdf5_connector/under.hpp"

namespace slabmark::slablog {

/// The place that a name leads to from an object; self() is the object itself.
H5VL_loc_params_t named(H5I_type_t type, const char* name);
/// Returns nothing if the object does not exist.
std::optional<H5O_info2_t> basic_info(void* under, const H5VL_loc_params_t& place, hid_t connector);

/// HDF5's name of the file that an object below is in.
std::string file_name(void* under, H5I_type_t type, hid_t connector);
/// HDF5's own number of the file that an object below is in; nothing where it does not say.
std::optional<unsigned long> find_file_number(void* under, H5I_type_t type, hid_t connector);
unsigned long file_number(void* under, H5I_type_t type, hid_t connector);
/// True if two tokens are those of one object.
bool are_same(const H5O_token_t& a, const H5O_token_t& b);

}  // namespace slabmark::slablog
