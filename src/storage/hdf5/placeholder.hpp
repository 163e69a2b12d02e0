#pragma once

#include <memory>
#include <string>
#include <utility>

#include <H5FDdevelop.h>
#include <hdf5.h>

namespace slabmark::hdf5 {

/// The callbacks of the driver that an access list asks for, for a driver of our own that is like
/// it but for some of them.
H5FD_class_t driver_class(hid_t access);

/// To be called where a write of HDF5's MPI-IO driver has failed on this rank. HDF5 2.2.0 then
/// leaves out that it resets the file view, for which the others wait.
void reset_view(const H5FD_class_t& driver, H5FD_t* file);

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

/// The first of HDF5's own writes that failed on this rank, of a file that several ranks have open
/// through such a driver. HDF5 takes it for done: a rank that stopped there would leave the others
/// waiting inside HDF5. A caller that keeps this must ask before the file counts as written.
class DeferredError {
 public:
  /// The deferred error of the file that is opened by that name next. It is deferred as long as
  /// somebody keeps this.
  static std::shared_ptr<DeferredError> of(const std::string& path);

  explicit DeferredError(std::string path) : path_(std::move(path)) {}
  /// For the driver: a write has just failed.
  void note();
  /// Throws IoError.
  void check() const;

 private:
  std::string path_;
  std::string failure_;
};

/// True if several ranks may have that file open together, through such a driver.
bool is_open_together(const std::string& path);

/// Changes the driver of `access` back.
void forget_placeholders(hid_t access);

}  // namespace slabmark::hdf5
