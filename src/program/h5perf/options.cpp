#include "program/h5perf/options.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/number.hpp"
#include "method/registry.hpp"
#include "program/h5perf/sweep.hpp"
#include "program/h5perf/words.hpp"

namespace slabmark::h5perf {

namespace {

/// The command line as text.
struct Arguments {
  std::string align = "1";
  std::string threshold = "1";
  std::vector<std::string> apis;
  std::string block = "0";
  std::string bytes = "0";
  std::string datasets = "1";
  std::string files = "1";
  std::string iterations;
  std::string min_processes;
  std::string max_processes;
  std::string min_buffer = "0";
  std::string max_buffer = "0";
  std::vector<std::string> debug;
  std::string output;
  std::string emulation = "hdf5";
  std::vector<std::string> contents;
  std::string buffer_memory = "64M";
  std::string ceiling;
  bool chunk = false;
  bool collective = false;
  bool two_dimensional = false;
  bool interleaved = false;
  bool write_only = false;
  bool mpi_posix = false;
  bool one_buffer = false;
};

void add_options(CLI::App& app, Arguments& a, Options& options) {
  app.add_option("-a,--align", a.align, "Alignment of objects in the HDF5 file (default 1)");
  app.add_option("-A,--api", a.apis, "APIs to test: phdf5, mpiio, posix (default all)")
      ->delimiter(',');
  app.add_option("-B,--block-size", a.block,
                 "Block size within the transfer buffer (default half of -e)");
  app.add_flag("-c,--chunk", a.chunk, "Chunked HDF5 datasets; emulated for the other APIs");
  app.add_flag("-C,--collective", a.collective, "Collective MPI-IO and HDF5 (default independent)");
  app.add_option("-d,--num-dsets", a.datasets, "Datasets in a file (default 1)");
  app.add_option("-D,--debug", a.debug,
                 "Debugging flags, separated by commas: 1 to 4 (level), r (raw data throughput), t "
                 "(times), v (verify, which is done anyway)")
      ->delimiter(',');
  app.add_option("-e,--num-bytes", a.bytes,
                 "Bytes per process per dataset (default 256K, 2-D 8K); 2-D: the side of the "
                 "square divided by the processes");
  app.add_option("-F,--num-files", a.files, "Number of files (default 1)");
  app.add_flag("-g,--geometry", a.two_dimensional, "2-D geometry (default 1-D)");
  app.add_option("-i,--num-iterations", a.iterations, "Test iterations (default 1)");
  app.add_flag("-I,--interleaved", a.interleaved, "Interleaved blocks (default contiguous)");
  app.add_flag("-m,--mpi-posix", a.mpi_posix, "Taken, but HDF5 has no such driver any more");
  app.add_option("-o,--output", a.output, "File for the report (default standard output)");
  app.add_option("-p,--min-num-processes", a.min_processes, "Fewest processes (default 1)");
  app.add_option("-P,--max-num-processes", a.max_processes, "Most processes (default all)");
  app.add_option("-T,--threshold", a.threshold, "Smallest object that -a applies to (default 1)");
  app.add_flag("-w,--write-only", a.write_only, "Do not read");
  app.add_option("-x,--min-xfer-size", a.min_buffer,
                 "Smallest transfer buffer (default half of -e)");
  app.add_option("-X,--max-xfer-size", a.max_buffer, "Largest transfer buffer (default -e)");
  app.add_option("--emulation", a.emulation,
                 "Chunks of POSIX and MPI-IO: hdf5 (the default: as HDF5 cuts the buffer) or "
                 "original (as h5perf of HDF5 did: the buffer in one piece)");
  app.add_option("--contents", a.contents,
                 "What is written, one kind a dataset in turn: position (the default), or for a "
                 "look at kept files rank, request, buffer, which are neither verified nor read")
      ->delimiter(',');
  app.add_option("--buffer-memory", a.buffer_memory,
                 "Bytes of a rank that requests may take between two meetings (default 64M)");
  app.add_flag("--one-buffer", a.one_buffer,
               "Move one buffer again and again, as the original did; contents are not verified");
  app.add_option("--ceiling", a.ceiling,
                 "MB/s that are possible here, to hold figures against (default: as fast as all "
                 "processes copy memory)");
  app.add_flag_callback(
      "--no-verify", [&options] { options.run.verify = false; },
      "Do not read written files back to compare them");
  add_common_arguments(app, options);
}

/// Documents turn hyphens into dashes, and the original took such words for the end of the options
/// without saying so.
void refuse_dashes(int argc, const char* const* argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    for (const std::string_view dash : {"\u2012", "\u2013", "\u2014", "\u2212", "\u2010"}) {
      if (!word.starts_with(dash)) continue;
      throw InputError(
          fmt::format("The word '{}' begins with a dash that is no hyphen, as documents print it; "
                      "type '-{}'.",
                      word, word.substr(dash.size())));
    }
  }
}

void set_geometry(Options& options, const Arguments& a) {
  TransferGeometry& g = options.geometry;
  g.two_dimensional = a.two_dimensional;
  g.interleaved = a.interleaved;
  g.datasets = parse_count(a.datasets, "-d (number of datasets)", 1, 1'000'000);
  g.bytes = parse_size(a.bytes, "-e (bytes per process per dataset)");
  if (g.bytes == 0) g.bytes = g.two_dimensional ? 8 * 1024 : 256 * 1024;
  g.block = parse_size(a.block, "-B (block size)");
  if (g.block == 0) g.block = std::max<std::uint64_t>(g.bytes / 2, 1);
  if (g.block > g.bytes) {
    options.notes.push_back(fmt::format(
        "The block size {} is more than the {} bytes per process, and is taken as that.", g.block,
        g.bytes));
    g.block = g.bytes;
  }
}

void set_sweep(Options& options, const Arguments& a, int ranks) {
  const auto most = static_cast<std::uint64_t>(ranks);
  SweepLimits limits;
  limits.min_processes =
      a.min_processes.empty() ? 1 : parse_count(a.min_processes, "-p (fewest processes)", 1);
  limits.max_processes =
      a.max_processes.empty() ? most : parse_count(a.max_processes, "-P (most processes)", 1);
  for (const auto& [option, count] :
       {std::pair{"-p", limits.min_processes}, std::pair{"-P", limits.max_processes}}) {
    if (count <= most) continue;
    throw InputError(fmt::format(
        "{} asks for {} processes, but there are only {}; start more of them (mpiexec -n {}).",
        option, count, most, count));
  }
  limits.min_buffer = parse_size(a.min_buffer, "-x (smallest transfer buffer)");
  limits.max_buffer = parse_size(a.max_buffer, "-X (largest transfer buffer)");
  options.processes = processes_of(limits);
  options.buffers = buffers_of(limits, options.geometry, options.notes);
  for (const int processes : options.processes) {
    for (const std::uint64_t buffer : options.buffers) {
      TransferGeometry geometry = options.geometry;
      geometry.buffer = buffer;
      check(geometry, static_cast<std::uint64_t>(processes));
    }
  }
}

void set_run(Options& options, const Arguments& a) {
  if (!a.iterations.empty() && options.trials) {
    throw InputError(
        "-i and --trials both say how often to measure; use one (--trials adds a warm-up).");
  }
  options.iterations =
      a.iterations.empty() ? 1 : parse_count(a.iterations, "-i (test iterations)", 1, 1'000'000);
  options.run.rule = fixed_trials(options.iterations);
  resolve_common(options);
  const MethodInfo* possible[] = {&find_method("posix"), &find_method("hdf5-slab"),
                                  &find_method("mpiio-independent"),
                                  &find_method("mpiio-collective")};
  check_options(options.settings, possible);
  if (options.debug.verify) options.run.verify = true;
  options.run.keep = options.run.keep || options.environment.keep;
  options.iterations = options.run.rule.max_trials;
  // Hints of the command line come last and so override those of the environment.
  options.settings.hints.insert(options.settings.hints.begin(), options.environment.hints.begin(),
                                options.environment.hints.end());
}

void set_contents(Options& options, const Arguments& a) {
  options.contents = parse_contents(a.contents);
  if (options.contents == std::vector{Contents::position}) return;
  options.write_only = true;
  options.run.verify = false;
}

void set_one_buffer(Options& options, const Arguments& a) {
  options.one_buffer = a.one_buffer;
  if (!a.one_buffer) return;
  if (options.debug.verify) {
    throw InputError(
        "-D v verifies contents, which --one-buffer does not keep apart; use one of them.");
  }
  options.run.verify = false;
}

}  // namespace

Parsed<Options> parse(int argc, const char* const* argv, int ranks) {
  CLI::App app("Tests parallel I/O performance of POSIX, MPI-IO and HDF5 on 1-D and 2-D datasets.",
               "h5perf");
  Arguments arguments;
  Options options;
  options.run = one_trial();
  add_options(app, arguments, options);
  refuse_dashes(argc, argv);
  if (auto help = parse_command_line(app, argc, argv)) return {std::nullopt, *help};

  options.apis = parse_apis(arguments.apis);
  options.debug = parse_debug(arguments.debug);
  options.chunked = arguments.chunk;
  options.collective = arguments.collective;
  options.original_emulation = parse_emulation(arguments.emulation);
  options.align = parse_size(arguments.align, "-a (alignment)");
  if (options.align == 0) throw InputError("-a (alignment) is 0; give at least 1 byte.");
  options.align_threshold = parse_size(arguments.threshold, "-T (alignment threshold)");
  options.files = parse_count(arguments.files, "-F (number of files)", 1, 1'000'000);
  options.write_only = arguments.write_only;
  options.buffer_memory = parse_size(arguments.buffer_memory, "--buffer-memory");
  if (!arguments.ceiling.empty()) {
    options.ceiling = parse_real(arguments.ceiling, "--ceiling") * 1024 * 1024;
  }
  options.output = arguments.output;
  if (arguments.mpi_posix) {
    options.notes.push_back(
        "-m asks for the MPI-posix driver, which HDF5 has no longer; the "
        "MPI-IO driver is used.");
  }
  set_geometry(options, arguments);
  set_sweep(options, arguments, ranks);
  options.environment = read_environment();
  set_run(options, arguments);
  set_contents(options, arguments);
  set_one_buffer(options, arguments);
  options.configuration = options_given(app);
  return {std::move(options), ""};
}

}  // namespace slabmark::h5perf
