#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/map/map_source.hpp"
#include "bench/map/pio_text_writer.hpp"
#include "programs/decomp/commands.hpp"

namespace slabmark::decomp {

/// What an output is made of.
enum class OutputKind { text, single_netcdf, many_netcdf };

OutputKind kind_of(const OutputOptions& output, std::size_t maps);

/// Names of the files that will be made. Text of one map takes the name as it is; that of several
/// maps is spread over NAME_D1.dat, NAME_D2.dat, ...
std::vector<std::string> file_names(const OutputOptions& output, std::size_t maps);

/// posix::require_output() for all files that will be made.
void check_output(const OutputOptions& output, std::size_t maps,
                  const std::vector<std::string>& inputs);

/// What becomes one .dat file.
struct TextMap {
  Extent dims;
  std::uint64_t ranks;
  std::function<void(PioTextWriter& to)> write;  ///< all of it, with finish()
};

/// Writes one file a map. None takes its name before all are complete, so that a failure leaves
/// what was there before.
void write_texts(const std::vector<std::string>& names, const std::vector<TextMap>& maps);

/// Writes the .nc file.
void write_netcdf(const std::vector<MapSource>& sources, const OutputOptions& output);

void report_written(const std::string& path, std::uint64_t bytes);

}  // namespace slabmark::decomp
