#pragma once

#include <functional>
#include <vector>

#include "accel/pnetcdf_dropin/open_file.hpp"

namespace slabmark::dropin {

/// What this rank brings to a collective call.
struct Brought {
  std::vector<Request*> puts, gets;
  const char* native_reason = nullptr;  ///< it wants PnetCDF to make the call
  bool blocking = false;                ///< not worth a plan if there are but a few pieces
  bool no_memory = false;               ///< to hold all of it
  bool native_puts = false;             ///< PnetCDF has some of what is waited for
  std::function<void()> wait_natively;  ///< collective: waits for these, where some rank has any
};

struct Outcome {
  bool native = false;  ///< nothing was moved: all ranks make PnetCDF's own call
  int error = NC_NOERR;
};

/// Collective: moves what all ranks bring, puts before gets. All ranks get the same outcome, also
/// where memory is short on one of them: what a call needs is asked for before ranks depend on it.
Outcome transfer(OpenFile& file, const Brought& brought);

/// Whether a blocking call of this rank goes to PnetCDF whatever else there is to know of it: it is
/// one that no rank asks the others about, and asks for so many pieces at most.
bool goes_unasked(OpenFile& file, std::uint64_t most_pieces);

}  // namespace slabmark::dropin
