#pragma once

#include <cstdint>
#include <string>

namespace slabmark {

/// Walks through the header of a classic NetCDF file (CDF-1, -2 or -5, as the NetCDF format
/// specification defines them) and throws InputError where it ends early or is malformed. Not
/// collective; for one rank, before all of them open the file: PnetCDF 1.12 takes a header that is
/// cut off for one with fewer variables, and believes any length that random bytes make up. Returns
/// the bytes of the whole file.
std::uint64_t check_classic_header(const std::string& path);

}  // namespace slabmark
