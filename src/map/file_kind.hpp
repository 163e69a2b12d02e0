#pragma once

#include <string>

namespace slabmark {

/// What the first bytes of a file say it is.
enum class FileKind { pio_text, classic_netcdf };

/// Not collective. Throws InputError if `path` is missing, unreadable, a directory, empty, or
/// neither a PIO text file nor classic NetCDF (CDF-1, -2 or -5); HDF5 and NetCDF-4 are named as
/// such.
FileKind kind_of_file(const std::string& path);

}  // namespace slabmark
