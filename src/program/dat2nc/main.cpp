// dat2nc [-h] [-q] [-o output.nc] input.dat ...
//
// Converts the decomposition files that PIO writes to the NetCDF files that e3sm_io reads.

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/printable.hpp"
#include "map/file_kind.hpp"
#include "map/map_source.hpp"
#include "map/netcdf_writer.hpp"
#include "parallel/agree.hpp"
#include "parallel/program.hpp"
#include "program/dat2nc/options.hpp"

namespace slabmark::dat2nc {

namespace {

PioText open_input(const std::string& path) {
  if (kind_of_file(path) != FileKind::pio_text) {
    throw InputError(
        fmt::format("\"{}\" is a NetCDF file already; dat2nc reads PIO text (.dat).", path));
  }
  return index_pio_text(path);
}

std::string trimmed(const std::string& line) {
  return line.substr(0, line.find_last_not_of(" \r") + 1);
}

/// `output`: its line, on the second line of all.
void print_input(const PioText& text, const std::string& output) {
  fmt::print("input file name ={}\n{}header:\n\t{}\n\t{}\n", printable(text.path), output,
             printable(trimmed(text.version_line)), printable(trimmed(text.dims_line)));
}

void print_outcome(const WrittenMap& written, bool is_quiet) {
  if (!is_quiet && written.cdf_version == 5) {
    fmt::print("output file format =CDF-5, since the map does not fit into CDF-1\n");
  }
  for (const MapSurvey& map : written.surveys) {
    if (!is_quiet) fmt::print("max_nreqs={} min_nreqs={}\n", map.most, map.fewest);
    if (map.listed < map.elements) {
      fmt::print("Warning: global array size = {} but only {} written\n", map.elements, map.listed);
    }
  }
}

void convert(const Options& options) {
  std::vector<MapSource> sources;
  for (const std::string& input : options.inputs) {
    PioText text = open_input(input);
    if (!options.is_quiet) {
      print_input(text, sources.empty()
                            ? fmt::format("output file name ={}\n", printable(options.output))
                            : "");
    }
    sources.push_back(source_of(std::move(text)));
  }
  const WrittenMap written = sources.size() == 1
                                 ? write_single_map(options.output, sources.front())
                                 : write_many_maps(options.output, sources, options.command_line);
  print_outcome(written, options.is_quiet);
}

ExitStatus run(const Comm& world, int argc, char** argv) {
  // One rank converts; the others wait, so that the program may be started by mpiexec or without
  // it.
  agreed(world, [&] {
    if (!world.is_root()) return;
    std::optional<std::string> help;
    const Options options = parse(argc, argv, help);
    if (help) {
      fmt::print("{}", *help);
    } else {
      convert(options);
    }
  });
  return ExitStatus::good;
}

}  // namespace

}  // namespace slabmark::dat2nc

int main(int argc, char** argv) {
  return slabmark::run_program(argc, argv, "dat2nc", [&](const slabmark::Comm& world) {
    return slabmark::dat2nc::run(world, argc, argv);
  });
}
