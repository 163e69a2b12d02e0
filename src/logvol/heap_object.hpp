#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <hdf5.h>

#include "storage/posix/file.hpp"

namespace slabmark::logvol {

/// How numbers are kept in one HDF5 file.
struct FileFormat {
  std::uint64_t base = 0;         ///< byte from which addresses count (behind a user block)
  std::size_t address_bytes = 8;  ///< of an address
  std::size_t length_bytes = 8;   ///< of a length
};

FileFormat format_of(hid_t file);

/// Address of the object header of an open object, from `base`.
std::uint64_t header_address(hid_t object);

/// Where in the file the encoded mappings are, of `bytes` bytes, of the virtual dataset whose
/// object header (version 2) is at `header`. HDF5 must not have the file open when others are put
/// there: it would not see them, and might put back what it remembers. Throws IoError where the
/// file is not as expected.
std::uint64_t place_of_mappings(posix::File& file, const FileFormat& format, std::uint64_t header,
                                std::uint64_t bytes);

}  // namespace slabmark::logvol
