#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "accel/pnetcdf_dropin/netcdf_file.hpp"

namespace slabmark::dropin {

/// The share of this rank in a collective call.
struct LocalRequests {
  std::vector<Request*> puts, gets;
  const char* unsupported_reason = nullptr;  ///< why PnetCDF must make the call; null: it need not
  bool blocking = false;                     ///< not worth a plan if there are but a few pieces
  bool no_memory = false;                    ///< to hold all of it
  bool native_puts = false;                  ///< PnetCDF has some of what is waited for
  std::function<void()> wait_in_pnetcdf;  ///< collective: waits for these, where some rank has any

  void add(Request* request) {
    (request->direction == Direction::put ? puts : gets).push_back(request);
  }
};

struct Outcome {
  bool passes_through = false;  ///< nothing was moved: all ranks make PnetCDF's own call
  int error = NC_NOERR;
};

/// Collective: moves what all ranks bring, puts before gets. All ranks get the same outcome, also
/// where memory is short on one of them: what a call needs is asked for before ranks depend on it.
Outcome transfer(NetcdfFile& file, const LocalRequests& local);

/// True if a blocking call of this rank passes through to PnetCDF without a question to the other
/// ranks: none of them asks about it, and it has so many pieces at most.
bool passes_unasked(NetcdfFile& file, std::uint64_t most_pieces);

}  // namespace slabmark::dropin
