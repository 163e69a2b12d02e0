#include "program/dat2nc/options.hpp"

#include <fstream>

#include <fmt/format.h>

#include "base/command_line.hpp"
#include "base/error.hpp"
#include "storage/posix/file.hpp"
#include "storage/posix/free_path.hpp"

namespace slabmark::dat2nc {

namespace {

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

}  // namespace

Options parse(int argc, char** argv, std::optional<std::string>& help) {
  Options options;
  std::string list;
  bool overwrite = false;
  CLI::App app(
      "Converts PIO decomposition text files (.dat) to NetCDF: one file in the layout with "
      "num_procs "
      "and max_nreqs, several to one file with maps D1, D2, ... in the order given.",
      "dat2nc");
  app.add_flag("-q", options.is_quiet, "Quiet mode: print warnings only");
  app.add_option("-o", options.output, "Output file (default: the input's name with .nc for .dat)");
  app.add_option("-i", list, "Text file that lists the input files, one a line");
  app.add_flag("--overwrite", overwrite,
               "Replace an output file whatever it holds (without it, only a NetCDF file)");
  app.add_option("input_file", options.inputs, "PIO decomposition files");
  help = parse_command_line(app, argc, argv);
  if (help) return options;

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
  posix::Output output{overwrite, "-o", options.inputs, "CDF"};
  if (!list.empty()) output.inputs.push_back(list);
  posix::require_output(options.output, output);
  return options;
}

}  // namespace slabmark::dat2nc
