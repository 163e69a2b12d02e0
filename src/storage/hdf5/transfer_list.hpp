#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "storage/hdf5/handle.hpp"

namespace slabmark::hdf5 {

/// HDF5's own word on a call, as bits: asked for after each of millions of calls, so it costs
/// little to take and to count.
struct TransferOutcome {
  H5D_mpio_actual_io_mode_t mode = H5D_MPIO_NO_COLLECTIVE;
  std::uint32_t no_collective_cause = 0;  ///< on some rank
  std::uint32_t selection_mode = 0;       ///< 0 also where HDF5 is older than 1.14.3
  std::uint32_t no_selection_cause = 0;

  auto operator<=>(const TransferOutcome&) const = default;
};

/// "contiguous collective", "chunk collective", "chunk independent", "chunk mixed" or "not
/// collective".
std::string mode_name(const TransferOutcome& outcome);
/// "scalar", "vector" or "selection", joined with " and "; "none" where nothing moved.
std::string selection_mode_name(const TransferOutcome& outcome);
/// Why it was not collective, in HDF5's terms; empty if it was.
std::vector<std::string> no_collective_causes(const TransferOutcome& outcome);
/// Why HDF5 did not hand the selection itself to its file driver; empty if it did.
std::vector<std::string> no_selection_causes(const TransferOutcome& outcome);

/// A dataset transfer property list: collective or not, and what HDF5 then really did.
class TransferList {
 public:
  enum class Mode { serial, independent, collective };  ///< `serial`: a file opened without MPI

  explicit TransferList(Mode mode);

  hid_t get() const { return handle_.get(); }

  /// How HDF5 carried out the last call with this list.
  TransferOutcome outcome() const;

 private:
  Handle handle_;
};

}  // namespace slabmark::hdf5
