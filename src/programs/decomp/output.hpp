#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/map/map_source.hpp"
#include "bench/map/pio_text_writer.hpp"
#include "core/base/progress_line.hpp"
#include "programs/decomp/commands.hpp"

namespace slabmark::decomp {

/// The parts of an output.
enum class OutputKind { text, single_netcdf, many_netcdf };

/// Shows how far the output is, by the rows of the maps that were read for it. The maps must not
/// outlive it.
class RowProgress {
 public:
  /// Each row is read `passes` times.
  void follow(std::vector<MapSource>& sources, std::uint64_t passes);
  void follow(std::vector<SyntheticMap>& maps, std::uint64_t passes);

 private:
  void note_row() { line_.show_step("writing maps", ++done_, expected_); }

  ProgressLine line_{"slabmark decomp"};
  std::uint64_t done_ = 0, expected_ = 0;
};

OutputKind kind_of(const OutputOptions& output, std::size_t maps);

/// Names of the files that will be made. Text of one map takes the name as it is; that of several
/// maps is spread over NAME_D1.dat, NAME_D2.dat, ...
std::vector<std::string> file_names(const OutputOptions& output, std::size_t maps);

/// posix::require_output() for all files that will be made.
void check_output(const OutputOptions& output, std::size_t maps,
                  const std::vector<std::string>& inputs);

/// The data that become one .dat file.
struct TextMap {
  Extent dims;
  std::uint64_t ranks;
  std::function<void(PioTextWriter& to)> write;  ///< all of it, with finish()
};

/// Writes one file a map. None takes its name before all are complete, so that a failure leaves
/// what was there before.
void write_texts(const std::vector<std::string>& names, const std::vector<TextMap>& maps);

/// How often write_netcdf() reads each row.
std::uint64_t passes_of(OutputKind kind);

/// Writes the .nc file.
void write_netcdf(const std::vector<MapSource>& sources, const OutputOptions& output);

void report_written(const std::string& path, std::uint64_t bytes);

}  // namespace slabmark::decomp
