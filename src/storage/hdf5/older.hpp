#pragma once

#include <cstddef>

#include <hdf5.h>

// HDF5 1.14 has it without the size of the buffer, under another name.
#if !H5_VERSION_GE(2, 0, 0)
inline hid_t H5Tdecode2(const void* bytes, std::size_t) { return H5Tdecode(bytes); }
#endif
