#pragma once

#include <cstdint>

#include "accel/hdf5_connector/connector/object.hpp"

namespace slabmark::slablog {

/// Recognises a dataset whose elements go past HDF5, and a virtual one of the program's own.
/// `owned`: what is below is closed by closing the object.
void find_dataset(Object& object, bool owned);
/// The same of one that was created with these.
void take_created_dataset(Object& object, hid_t type, hid_t space, hid_t creation);
/// True if 63 bits number all bytes of a dataset, in whole chunks if it has such. HDF5 makes sparse
/// ones of more.
bool has_numbers_for_all(std::uint64_t element_bytes, const Extent& extent, const Extent& chunk);
/// True if a dataset may go past HDF5.
bool belongs_into_log(hid_t type, hid_t space, hid_t creation);

}  // namespace slabmark::slablog
