#pragma once

#include <string>

namespace slabmark {

/// What the first bytes of a file say it is.
enum class FileKind { pio_text, classic_netcdf, hdf5 };

/// Not collective. Throws InputError if `path` is missing, unreadable, a directory, empty, or
/// none of PIO text, classic NetCDF (CDF-1, -2 or -5) and HDF5.
FileKind kind_of_file(const std::string& path);

}  // namespace slabmark
