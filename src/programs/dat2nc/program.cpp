// dat2nc [-h] [-q] [-o output.nc] input.dat ...
//
// Converts the decomposition files that PIO writes to the NetCDF files that e3sm_io reads.

#include "core/parallel/program.hpp"

#include <fstream>

#include <fmt/format.h>

#include "bench/map/file_kind.hpp"
#include "bench/map/map_source.hpp"
#include "bench/map/netcdf_writer.hpp"
#include "core/base/error.hpp"
#include "core/base/printable.hpp"
#include "core/command_line/command_line.hpp"
#include "core/parallel/agree.hpp"
#include "programs/programs.hpp"
#include "storage/posix/file.hpp"
#include "storage/posix/free_path.hpp"

namespace slabmark::dat2nc {

namespace {

struct Options {
  bool is_quiet = false;
  std::string output;               ///< never empty
  std::vector<std::string> inputs;  ///< at least one
  std::string command_line;         ///< as given, for the file
  posix::Output rules;              ///< of the output, for the one rank that makes it
};

/// File names of a list, one a line; '#' begins a comment.
std::vector<std::string> read_list(const std::string& path) {
  posix::File::open_input(path, "list of input files");
  std::ifstream file(path);
  std::vector<std::string> names;
  for (std::string line; std::getline(file, line);) {
    line.erase(std::min(line.find('#'), line.size()));
    line.erase(line.find_last_not_of(" \t\r") + 1);
    line.erase(0, line.find_first_not_of(" \t"));
    if (!line.empty()) names.push_back(line);
  }
  return names;
}

std::string standard_output_name(const std::vector<std::string>& inputs) {
  if (inputs.size() > 1) {
    throw InputError("Several input files make one file of many maps; name it with -o.");
  }
  const std::string& input = inputs.front();
  if (!input.ends_with(".dat")) {
    throw InputError(fmt::format(
        "The input file name \"{}\" does not end in \".dat\", so name the output file with -o.",
        input));
  }
  return input.substr(0, input.size() - 4) + ".nc";
}

Parsed<Options> parse(int argc, const char* const* argv) {
  Options options;
  std::string list;
  bool overwrite = false;
  CommandLine line(
      "dat2nc",
      "Converts PIO decomposition text files (.dat) to NetCDF: one file in the layout with "
      "num_procs and max_nreqs, several to one file with maps D1, D2, ... in the order given.");
  Command& root = line.root();
  root.add_flag("-q", options.is_quiet, "Quiet mode: print warnings only");
  root.add_text("-o", "FILE", options.output, "Output file")
      .default_text("the input's name with .nc for .dat");
  root.add_text("-i", "FILE", list, "Text file that lists the input files, one per line");
  root.add_flag("--overwrite", overwrite,
                "Replace an output file whatever it holds (without it, only a NetCDF file)");
  root.add_arguments("input_file", options.inputs, "PIO decomposition files");
  if (auto help = line.parse(argc, argv)) return {std::nullopt, *help};

  for (int i = 0; i < argc; ++i)
    options.command_line += fmt::format("{}{}", i > 0 ? " " : "", argv[i]);
  if (!list.empty()) {
    const std::vector<std::string> listed = read_list(list);
    options.inputs.insert(options.inputs.end(), listed.begin(), listed.end());
  }
  if (options.inputs.empty()) {
    throw InputError(
        "No input file is given; usage: dat2nc [-h] [-q] [-o output.nc] input.dat ...");
  }
  if (options.output.empty()) options.output = standard_output_name(options.inputs);
  options.rules = {overwrite, "-o", options.inputs, "CDF"};
  if (!list.empty()) options.rules.inputs.push_back(list);
  return {std::move(options), ""};
}

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
  posix::require_output(options.output, options.rules);
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

ExitStatus run(const Comm& world, const Options& options) {
  // One rank converts; the others wait, so that the program may be started by mpiexec or without
  // it.
  agreed(world, [&] {
    if (world.is_root()) convert(options);
  });
  return ExitStatus::good;
}

}  // namespace

}  // namespace slabmark::dat2nc

const slabmark::Program& slabmark::programs::dat2nc() {
  static const Program program = make_program("dat2nc", dat2nc::parse, dat2nc::run);
  return program;
}
