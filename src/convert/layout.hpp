#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "convert/contents.hpp"
#include "storage/hdf5/handle.hpp"

namespace slabmark::convert {

/// How variables are stored in a netCDF-4 file.
struct StorageOptions {
  std::optional<VariableFilters> filters;      ///< nothing: as in the source
  std::map<std::string, std::uint64_t> chunk;  ///< length of a chunk, by name of the dimension
};

/// "zstd:3", "deflate:1", "zstd", "deflate" or "none". Throws InputError.
VariableFilters parse_compression(const std::string& text, const std::string& what);
/// "time=1": into `chunk`. Throws InputError.
void parse_chunk(const std::string& text, const std::string& what, StorageOptions& options);

/// Throws InputError where HDF5 has no such filter, or a dimension does not exist.
void require_storage(const StorageOptions& options, const FileContents& contents);

/// The lengths of a variable's chunks; empty: contiguous.
Extent chunk_of(const FileContents& contents, const FileVariable& variable,
                const StorageOptions& options);

/// The element that stands where nothing was written: the attribute _FillValue, or netCDF's own.
std::vector<std::byte> fill_of(const FileVariable& variable);

/// The list with which HDF5 creates a variable as netCDF-C does. `path` is for messages.
hdf5::Handle creation_of(const FileVariable& variable, const Extent& chunk,
                         const StorageOptions& options, const std::string& path);

}  // namespace slabmark::convert
