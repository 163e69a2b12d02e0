#pragma once

#include <vector>

#include "map/map_source.hpp"
#include "program/slabmark-decomp/commands.hpp"

namespace slabmark::decomp {

/// What an output is made of.
enum class OutputKind { text, single_netcdf, many_netcdf };

OutputKind kind_of(const OutputOptions& output, std::size_t maps);

/// Names of the files that will be made. Text of one map takes the name as it is; that of several
/// maps is spread over NAME_D1.dat, NAME_D2.dat, ...
std::vector<std::string> file_names(const OutputOptions& output, std::size_t maps);

/// Throws InputError where the output's directory is missing, or where a file that will be made is
/// there already and may not be overwritten.
void check_output(const OutputOptions& output, std::size_t maps);

/// Writes the .nc file.
void write_netcdf(const std::vector<MapSource>& sources, const OutputOptions& output);

void report_written(const std::string& path, std::uint64_t bytes);

}  // namespace slabmark::decomp
