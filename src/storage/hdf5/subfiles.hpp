#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace slabmark::hdf5 {

/// Files that the subfiling driver has left beside the stub `path`; none for an ordinary file.
std::vector<std::string> subfiles_of(const std::string& path);

/// Bytes of the largest of so many subfiles (0: one for each node, of which there may be one) that
/// hold `bytes` bytes, stripe by stripe in turn.
std::uint64_t largest_subfile(std::uint64_t bytes, std::uint64_t subfiles);

/// Why the subfiling driver cannot be used (HDF5 was built without it, MPI has no threads); empty:
/// it can.
std::string no_subfiling_cause();

/// Gives the file `from` the name `to` in the same directory, and its subfiles, if it has any, the
/// names that HDF5 then looks for; a file that had the name is replaced, and its subfiles go.
/// Not collective; nobody may have the file open. Throws IoError.
void rename_with_subfiles(const std::string& from, const std::string& to);

}  // namespace slabmark::hdf5
