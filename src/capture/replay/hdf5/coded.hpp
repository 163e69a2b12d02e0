#pragma once

#include <string>

#include "core/json/json.hpp"
#include "storage/hdf5/handle.hpp"

/// Types, lists and spaces of a program as HDF5 coded them, and as capture has put them into
/// descriptions.
namespace slabmark::hdf5_coded {

/// In base64, under that key. Empty where the pattern does not have it.
std::string code_of(const Json& of, const char* key);

/// A property list of the program; `kind`: where its code is empty, the default of this.
hdf5::Handle list_of(const std::string& code, hid_t kind);

/// A datatype of the program; bytes of as many where the pattern has no more (--anonymous).
hdf5::Handle type_of(const Json& of);

/// The dataspace of a dataset or an attribute.
hdf5::Handle space_of(const Json& of);

/// Elements of variable length are addresses, and what they lead to is not captured.
bool has_addresses(hid_t type);

}  // namespace slabmark::hdf5_coded
