#pragma once

#include <cstdint>

#include <hdf5.h>

#include "logvol/journal/journal.hpp"

namespace slabmark::logvol {

/// Changes the driver of a file access list, MPI-IO or POSIX, for one that does the same and keeps
/// the journal of what HDF5 overwrites. The list is good for opening files as long as the journal
/// lives. Throws IoError.
void keep_journal(hid_t access, Journal& journal);

/// Changes it back.
void forget_journal(hid_t access);

/// Where the space ends that HDF5 has given out in the file of this journal, which is open.
std::uint64_t end_of_space(const Journal& journal);

}  // namespace slabmark::logvol
