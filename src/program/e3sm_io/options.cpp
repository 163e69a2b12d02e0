#include "program/e3sm_io/options.hpp"

#include <filesystem>
#include <string_view>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/number.hpp"
#include "method/registry.hpp"

namespace slabmark::e3sm_io {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view pnetcdf_prefix = "pnetcdf-";

// Variables are named with four digits; more would still work, but a million is a typing error.
constexpr std::uint64_t most_variables = 1'000'000;

const MethodInfo& find_by_short_name(const std::string& name) {
  for (const MethodInfo& method : methods()) {
    if (short_name(method) == name) return find_method(method.name);
  }
  return find_method(name);
}

}  // namespace

std::string short_name(const MethodInfo& method) {
  const std::string_view name = method.name;
  return std::string(name.starts_with(pnetcdf_prefix) ? name.substr(pnetcdf_prefix.size()) : name);
}

std::string output_path(const std::string& output, const MethodInfo& method) {
  fs::path path(output);
  if (fs::is_directory(path) || output.ends_with('/')) path /= "testfile.nc";
  fs::path extension = path.extension();
  if (method.format == FileFormat::hdf5 || method.format == FileFormat::hdf5_subfiles)
    extension = ".h5";
  if (method.format == FileFormat::raw) extension = ".raw";
  const std::string stem = path.stem().string() + "_" + short_name(method);
  return (path.parent_path() / (stem + extension.string())).string();
}

Parsed<Options> parse(int argc, const char* const* argv) {
  CLI::App app(
      "Writes the variables of an E3SM decomposition through PnetCDF in three ways (vard, varn, "
      "vara).",
      "e3sm_io");
  Options options;
  RunArguments arguments;
  std::string variables = "1";
  std::string map_index;
  bool use_float = false;
  bool use_double = false;
  std::vector<std::string> names = {"vard", "varn", "vara"};

  app.add_flag("-q,--quiet", options.quiet, "Quiet mode: without the hints in effect");
  app.add_option("-n,--variables", variables, "Number of variables (default 1)");
  app.add_option(
      "-o,--output", options.output,
      "Output file, or a directory for testfile_*.nc (default ./testfile.nc); each method "
      "inserts its name before the extension");
  app.add_option("input_file", options.map, "Decomposition file (NetCDF or PIO text)")->required();
  auto* float_flag = app.add_flag("--float", use_float, "Variables of 4 bytes an element");
  app.add_flag("--double", use_double, "Variables of 8 bytes an element (default)")
      ->excludes(float_flag);
  app.add_option(
      "--map", map_index,
      "Use only this map of a file with several (1, 2, ...); else variable i uses map i mod maps");
  app.add_option("--methods", names, "Methods, separated by commas (default vard,varn,vara)")
      ->delimiter(',');
  add_verify_arguments(app, arguments, "Trust the library that it wrote what it said it wrote");
  add_common_arguments(app, arguments);

  if (auto help = parse_command_line(app, argc, argv)) return {std::nullopt, *help};

  options.variables = parse_count(variables, "-n (number of variables)", 1, most_variables);
  if (!map_index.empty()) options.only_map = parse_count(map_index, "--map", 1) - 1;
  if (use_float) options.type = ElementType::float32;
  if (options.output.empty()) options.output = "testfile.nc";
  for (const std::string& name : names) options.methods.push_back(&find_by_short_name(name));

  RunOptions standard;
  standard.rule = fixed_trials(1);  // as often as the original ran each method
  standard.warm_up = false;
  resolve_common(arguments, standard, options);
  options.run.inputs = {options.map};
  options.configuration = {
      {"map", options.map},       {"variables", options.variables}, {"type", name_of(options.type)},
      {"output", options.output}, {"verify", options.run.verify},   {"sync", options.run.sync},
      {"hints", arguments.hints}, {"options", arguments.options}};
  return {std::move(options), ""};
}

}  // namespace slabmark::e3sm_io
