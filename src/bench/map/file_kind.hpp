#pragma once

#include <string>

namespace slabmark {

/// The format that the first bytes of a file name. An HDF5 file is `hdf5`, NetCDF-4 among them,
/// unless it is a pattern file.
enum class FileKind { pio_text, classic_netcdf, hdf5, pattern };

/// Not collective. Throws InputError if `path` is missing, unreadable, a directory, empty, or
/// none of PIO text, classic NetCDF (CDF-1, -2 or -5) and HDF5.
FileKind kind_of_file(const std::string& path);

}  // namespace slabmark
