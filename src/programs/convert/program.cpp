/// slabmark convert: netCDF files in another format, with other chunks and filters.
///
///   mpiexec -n 4 slabmark convert history.nc -o compressed.nc --compress zstd:3 --shuffle

#include "core/parallel/program.hpp"

#include <fmt/format.h>

#include "convert/convert.hpp"
#include "core/base/error.hpp"
#include "core/base/number.hpp"
#include "core/base/printable.hpp"
#include "core/base/progress_line.hpp"
#include "core/command_line/command_line.hpp"
#include "core/parallel/agree.hpp"
#include "programs/programs.hpp"
#include "storage/hdf5/file.hpp"

namespace slabmark::convert_program {

namespace {

using convert::ConvertOptions;

// MPI counts the bytes of a window in int.
constexpr std::uint64_t least_memory = 1u << 20, most_memory = std::uint64_t{4} << 30;

Parsed<ConvertOptions> parse(int argc, const char* const* argv) {
  ConvertOptions options;
  std::vector<std::string> chunks;
  CommandLine line("slabmark convert",
                   "Writes a netCDF file in another format, with other chunks and filters. Any "
                   "number of ranks");
  Command& root = line.root();
  root.add_arguments("INPUT", options.inputs,
                     "NetCDF file: classic (CDF-1, CDF-2 or CDF-5) or netCDF-4, or Zarr v3 store. "
                     "Several are joined "
                     "along their unlimited dimension, or merged if their variables differ")
      .required();
  root.add_text("-o,--output", "FILE", options.output,
                "File to write; with {variable} in its name, a file for each variable")
      .required();
  using convert::NetcdfKind;
  root.add_word<NetcdfKind>("--output-format", options.kind, "Format of the output",
                            {{"netcdf4", NetcdfKind::netcdf4},
                             {"cdf1", NetcdfKind::cdf1},
                             {"cdf2", NetcdfKind::cdf2},
                             {"cdf5", NetcdfKind::cdf5},
                             {"zarr", NetcdfKind::zarr}});
  root.add_parsed("--compress", "FILTER", {}, "Compression: zstd[:LEVEL], deflate[:LEVEL] or none",
                  [&](const std::string& text, const std::string& what) {
                    options.settings.general.filters = convert::parse_compression(text, what);
                  })
      .default_text("as the input");
  bool shuffle = false;
  root.add_flag("--shuffle", shuffle,
                "Sort the bytes of elements before they are compressed by --compress");
  root.add_parsed(
      "--quantize", "METHOD:N", {},
      "Round floating-point elements, as netCDF-C does: BitRound to N significant bits, "
      "GranularBR or BitGroom to N digits",
      [&](const std::string& text, const std::string& what) {
        options.settings.general.quantization = convert::parse_quantization(text, what);
      });
  root.add_list("--chunk", chunks, "Lengths of chunks by dimension, such as time=1,lat=90");
  root.add_parsed("--chunk-for", "USE", {},
                  "Chunks for readers of a series, level or field, or of a mix of them",
                  [&](const std::string& text, const std::string& what) {
                    options.settings.general.chunk_for = convert::parse_chunk_use(text, what);
                  });
  root.add_each(
      "--rule", "RULE",
      [&](const std::string& text) { options.settings.rules.push_back(convert::parse_rule(text)); },
      "Other settings for some variables, such as 'T*,U:compress=zstd:5 chunk=time=1'");
  root.add_list("--variables", options.selection.only,
                "Convert only these variables, their coordinates and bounds");
  root.add_list("--skip", options.selection.skip, "Leave these variables out");
  root.add_size("--memory", options.memory, "Bytes that a rank holds of the elements, at most");
  root.add_flag("--drop-behind", options.drop_behind,
                "Keep neither input nor output in the page cache");
  root.add_flag("--verify", options.verify,
                "Read the file back and compare all elements with the input");
  root.add_flag("--resume", options.resume,
                "Go on where a killed run with this option ended; let a later run do so");
  root.add_flag("--sync", options.sync, "Make the file durable (fsync) before it gets its name");
  root.add_flag("--overwrite", options.overwrite, "Replace output files that exist already");
  if (auto help = line.parse(argc, argv)) return {std::nullopt, *help};
  if (shuffle && !options.settings.general.filters) {
    throw InputError("--shuffle is of no use alone; name a compression as well, with --compress.");
  }
  if (shuffle) options.settings.general.filters->shuffle = true;
  for (const std::string& chunk : chunks) {
    convert::parse_chunk(chunk, "--chunk", options.settings.general.chunk);
  }
  if (!chunks.empty() && options.settings.general.chunk_for) {
    throw InputError("--chunk and --chunk-for both choose chunks; leave one of them out.");
  }
  if (options.kind == NetcdfKind::zarr && (options.overwrite || options.resume)) {
    throw InputError(
        "--overwrite and --resume are for files, and a Zarr store is a directory; remove a store "
        "before you write another in its place.");
  }
  if (options.kind != NetcdfKind::netcdf4 && options.kind != NetcdfKind::zarr &&
      options.settings.has_storage()) {
    throw InputError(
        "Classic files have no chunks and no filters; leave out --compress and --chunk, or write "
        "netCDF-4.");
  }
  options.given = root.options_given();
  for (const char* const other :
       {"--resume", "--overwrite", "--verify", "--sync", "--drop-behind"}) {
    options.given.erase(other);
  }
  if (options.memory < least_memory || options.memory > most_memory) {
    throw InputError(fmt::format("--memory is {}; choose 1M to 4G.", options.memory));
  }
  return {std::move(options), ""};
}

std::string named(const std::string& file, std::size_t files) {
  return files == 1 ? printable(file) : fmt::format("{} files", files);
}

ExitStatus run(const Comm& world, const ConvertOptions& options) {
  agreed(world, [] { hdf5::start(); });
  ProgressLine line("slabmark convert", !world.is_root());
  const convert::Conversion done = convert::convert(world, options, line.steps_of("converting"));
  line.clear();
  if (world.is_root()) {
    const std::string before = done.bytes_before > 0 ? fmt::format(", {} of them by an earlier run",
                                                                   format_bytes(done.bytes_before))
                                                     : "";
    fmt::print("{} -> {}: {} variables, {} in {}{}\n",
               named(options.inputs.front(), options.inputs.size()),
               named(options.output, done.files), done.variables, format_bytes(done.bytes),
               format_bytes(done.stored_bytes), before);
  }
  return ExitStatus::good;
}

}  // namespace

}  // namespace slabmark::convert_program

const slabmark::Program& slabmark::programs::convert() {
  static const Program program =
      make_program("slabmark convert", convert_program::parse, convert_program::run);
  return program;
}
