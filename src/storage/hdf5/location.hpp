#pragma once

#include <tuple>

#include <hdf5.h>

// This header includes only HDF5's own header: a library for other programs uses the HDF5 that the
// program is linked with. Callers pass the queries, since some ask HDF5 by the id of a dataset and
// others below a connector.

namespace slabmark::hdf5 {

/// Byte of the file at which a contiguous dataset begins; HADDR_UNDEF: it has no space. HDF5 2.2.0
/// has an address even for one without space, in a file with a user block. Each question returns
/// whether HDF5 answered.
template <class Status, class Address>
bool allocated_address(const Status& ask_status, const Address& ask_address, haddr_t& address) {
  H5D_space_status_t status = H5D_SPACE_STATUS_ERROR;
  address = HADDR_UNDEF;
  if (!ask_status(status)) return false;
  return status == H5D_SPACE_STATUS_NOT_ALLOCATED || ask_address(address);
}

/// The same of a dataset by its id. H5Dget_offset has the same answer for a failure as for no
/// space.
inline haddr_t allocated_address(hid_t dataset) {
  haddr_t found = HADDR_UNDEF;
  allocated_address(
      [&](H5D_space_status_t& status) { return H5Dget_space_status(dataset, &status) >= 0; },
      [&](haddr_t& address) {
        address = H5Dget_offset(dataset);
        return true;
      },
      found);
  return found;
}

/// True if HDF5 says where a chunk lies without the user block of the file, as it does before
/// 1.14.4 (its issue 3003).
inline bool leaves_out_user_block() {
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  return std::tuple(major, minor, release) < std::tuple(1U, 14U, 4U);
}

/// Finds how many bytes HDF5 leaves out of the addresses of a dataset's chunks. Returns whether
/// HDF5 answered.
inline bool left_out_of_chunk_addresses(hid_t dataset, hsize_t& bytes) {
  bytes = 0;
  if (!leaves_out_user_block()) return true;
  const hid_t file = H5Iget_file_id(dataset);
  const hid_t creation = file < 0 ? H5I_INVALID_HID : H5Fget_create_plist(file);
  const bool answered = creation >= 0 && H5Pget_userblock(creation, &bytes) >= 0;
  if (creation >= 0) H5Pclose(creation);
  if (file >= 0) H5Fclose(file);
  return answered;
}

}  // namespace slabmark::hdf5
