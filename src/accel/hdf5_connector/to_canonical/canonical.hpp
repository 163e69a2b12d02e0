#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "accel/hdf5_connector/under.hpp"
#include "core/parallel/comm.hpp"

namespace slabmark::slablog {

/// The outcome of a conversion.
struct Conversion {
  LogState state = LogState::closed;  ///< of the log file
  std::uint64_t datasets = 0;         ///< that were in the log
  std::uint64_t bytes = 0;            ///< of their elements
};

/// Collective. Writes what the log file `input` holds to `output`, which is not there yet, as an
/// ordinary HDF5 file: the datasets of the log become contiguous ones, of which each rank reads and
/// writes equal parts; all else is as it was. Throws an agreed Error; InputError if there is no
/// log. A part of `output` may be there then.
/// `on_bytes` is told how many bytes are written, estimated from this rank's part, and of how many.
Conversion write_canonical(
    const Comm& comm, const std::string& input, const std::string& output,
    const std::function<void(std::uint64_t done, std::uint64_t total)>& on_bytes = {});

}  // namespace slabmark::slablog
