#pragma once

#include <string>
#include <vector>

#include "storage/hdf5/handle.hpp"

namespace slabmark::hdf5 {

/// A dataset transfer property list: collective or not, and what HDF5 then really did.
class TransferList {
 public:
  enum class Mode { serial, independent, collective };  ///< `serial`: a file opened without MPI

  explicit TransferList(Mode mode);

  hid_t get() const { return handle_.get(); }

  /// What the last H5Dwrite or H5Dread with this list did: "contiguous collective", "chunk
  /// collective", "chunk independent", "chunk mixed" or "not collective".
  std::string actual_mode() const;

  /// Why the last one was not collective on some rank, in HDF5's terms; empty if it was.
  std::vector<std::string> no_collective_causes() const;

 private:
  Handle handle_;
};

}  // namespace slabmark::hdf5
