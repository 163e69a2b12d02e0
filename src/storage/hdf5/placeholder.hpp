#pragma once

#include <H5FDdevelop.h>
#include <hdf5.h>

namespace slabmark::hdf5 {

/// The callbacks of the driver that an access list asks for, for a driver of our own that is like
/// it but for some of them.
H5FD_class_t driver_class(hid_t access);

/// Data of a chunk that HDF5 gets space for and enters into its index, but that others write. It
/// may be read, 4 GiB of it, and takes no memory.
const void* placeholder();

/// For the `write` callback of a driver: whether `data` is the placeholder, which is not to be
/// written. Notes the byte of the file at which its place is.
bool takes_placeholder(const void* data, haddr_t address);

/// Where HDF5 has put the placeholder since this was asked last; HADDR_UNDEF: nowhere that a driver
/// knows of.
haddr_t placeholder_address();

/// Makes files that are opened with `access`, which has the POSIX or the MPI-IO driver, leave
/// placeholders out. Nothing else about them changes. Throws IoError.
void leave_out_placeholders(hid_t access);

/// Changes the driver of `access` back.
void forget_placeholders(hid_t access);

}  // namespace slabmark::hdf5
