#pragma once

#include <string>

#include "capture/interpose/hdf5/library.hpp"
#include "capture/record/definitions.hpp"
#include "capture/record/recorder.hpp"

namespace slabmark::capture {

// HDF5's things as docs/reference/pattern-file.md has them. All of it is called before the call
// below, or after one that went well: it empties the error stack.

/// The flag of a call that returned `status`.
inline unsigned failed_if(herr_t status) { return status < 0 ? unsigned{failed} : 0; }

/// A property list, a datatype or the extent of a dataspace as HDF5 itself encodes it, in base64;
/// empty where it cannot.
std::string encoded_list(hid_t list);
std::string encoded_type(hid_t type);
std::string encoded_space(hid_t space);

/// "float32", or an object for what has no word.
Json type_of(hid_t type);
/// True if the encoded type holds names of the program's.
bool has_names(hid_t type);

/// A datatype in memory as a definition.
Id memory_type(hid_t type);

/// A dataset as a definition.
Id define_dataset(const std::string& name, hid_t type, hid_t space, hid_t creation);

/// A transfer list as a definition; no_id for the default.
Id transfer_list(hid_t list);
/// collective, or 0.
unsigned is_collective(hid_t list);

}  // namespace slabmark::capture
