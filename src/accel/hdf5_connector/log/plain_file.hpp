#pragma once

#include <string>

#include <hdf5.h>

#include "accel/hdf5_connector/journal/journal.hpp"
#include "accel/hdf5_connector/under.hpp"
#include "storage/hdf5/handle.hpp"

namespace slabmark::slablog {

/// Opens a file in this process alone and without this connector, whatever the environment names.
/// Throws InputError where it is no HDF5 file, and IoError. `journal`: for writing, what is kept
/// of it.
hdf5::Handle open_plainly(const std::string& path, unsigned flags, Journal* journal = nullptr);

/// HDF5's calls for connectors (under.hpp) need a context, which they have only inside a
/// connector's callback. This provides it elsewhere.
class LibraryContext {
 public:
  LibraryContext();
  ~LibraryContext();
  LibraryContext(const LibraryContext&) = delete;
  LibraryContext& operator=(const LibraryContext&) = delete;

 private:
  [[maybe_unused]] void* context_ = nullptr;
};

/// Where those calls find the log of a file that is open plainly.
Location location_of(const hdf5::Handle& file);

/// Throws InputError if the file has no log.
void check_has_log(const Location& location, const std::string& path);

}  // namespace slabmark::slablog
