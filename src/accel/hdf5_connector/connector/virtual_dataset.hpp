#pragma once

#include "accel/hdf5_connector/connector/object.hpp"

namespace slabmark::slablog {

// A program may map a dataset onto others (H5Pset_virtual). HDF5 reads these beneath the connector,
// where those of a log show what they held when their file was closed last. So what is mapped onto
// the log of an open file is read and written here.

/// Part of a dataset, and the dataset that it is mapped onto.
struct Mapping {
  std::optional<std::string> file;     ///< nothing where it stands for several
  std::optional<std::string> dataset;  ///< the same
  Extent shown_extent;
  Extent source_extent;
  /// Ascending; a position is an element of the source. Nothing where a mapping has no end.
  std::optional<LogRuns> elements;
};

/// The mappings of a creation list; null where it is not of a virtual dataset. Not to be called
/// while HDF5 reads or writes: what a transfer list says of memory would hold for the list's fill
/// value.
Mappings mappings_in(hid_t creation);

/// Reads what is mapped onto open logs, over what HDF5 has read already. Throws Refusal where the
/// log has what HDF5 could not see, and the mapping cannot be followed.
void read_mapped(Object& mine, hid_t type, hid_t memory, hid_t file, hid_t list, void* data);

/// Returns false, without having written anything, where nothing is mapped onto open logs. Throws
/// Refusal where only a part of the selection is.
bool write_mapped(Object& mine, hid_t type, hid_t memory, hid_t file, hid_t list, const void* data);

}  // namespace slabmark::slablog
