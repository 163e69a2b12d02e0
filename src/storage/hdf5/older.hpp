#pragma once

#include <cstddef>
#include <cstdint>

#include <hdf5.h>

// HDF5 1.14 has these without the size of the buffer, under other names.
#if !H5_VERSION_GE(2, 0, 0)
inline hid_t H5Tdecode2(const void* bytes, std::size_t) { return H5Tdecode(bytes); }
inline herr_t H5Dread_chunk2(hid_t dataset, hid_t transfer, const hsize_t* first,
                             std::uint32_t* mask, void* to, std::size_t*) {
  return H5Dread_chunk(dataset, transfer, first, mask, to);
}
#endif
