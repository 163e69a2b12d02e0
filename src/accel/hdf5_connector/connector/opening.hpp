#pragma once

#include <memory>
#include <optional>
#include <string>

#include "accel/hdf5_connector/connector/tracked_file.hpp"
#include "accel/hdf5_connector/journal/journal.hpp"
#include "accel/hdf5_connector/journal/rollback.hpp"
#include "storage/hdf5/placeholder.hpp"

namespace slabmark::slablog {

/// A file that is being opened, until HDF5 says that it is open (POST_OPEN). Before that, nothing
/// may be made in it.
struct Opening {
  /// `access`: the program's list. HDF5's error stack stays.
  explicit Opening(hid_t access);

  hdf5::Handle access;  ///< the list for HDF5 itself
  std::string path;
  Ranks ranks;
  Config config;
  bool may_hold_log = false;
  bool created = false;
  bool swmr_write = false;
  std::shared_ptr<Journal> journal;                ///< null if it is only read, or canonical
  std::optional<WantedBuffers> canonical_buffers;  ///< it may be written so, or read together
  bool only_reads = false;                         ///< of such a file
  std::shared_ptr<hdf5::DeferredError> deferred;   ///< of a parallel one
  collective::Settings::Hints hints;               ///< that the program gives MPI-IO
  H5F_close_degree_t degree = H5F_CLOSE_DEFAULT;
};

/// Formats that a file may use.
struct Formats {
  H5F_libver_t low = H5F_LIBVER_EARLIEST;
  H5F_libver_t high = H5F_LIBVER_LATEST;
};
/// HDF5's own data has checksums from the format of 1.8 on. No HDF5 that reads a log needs an older
/// one. (Where the program allows no format of 1.10, the file is of a later one already.)
Formats of_log(const Formats& wanted);

/// Makes an existing file ready to be opened, or a new one to be created: what is to be known of
/// it, and done to it, before. `access`: the program's list.
void prepare_open(Opening& opening, hid_t access, const char* name, unsigned flags);
void prepare_create(Opening& opening, hid_t access, const char* name, unsigned flags,
                    hid_t creation);

}  // namespace slabmark::slablog
