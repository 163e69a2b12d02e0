#include "programs/h5perf/options.hpp"

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "bench/method/registry.hpp"
#include "core/base/error.hpp"

namespace slabmark::h5perf {

namespace {

/// Options to check together.
struct Arguments {
  std::uint64_t block = 0, bytes = 0;
  std::vector<std::string> apis, debug, contents;
  std::optional<std::uint64_t> iterations;
  double ceiling = 0.0;
  bool mpi_posix = false;
};

void add_options(Command& root, Arguments& a, Options& options) {
  TransferGeometry& g = options.geometry;
  const CountRange up_to_a_million = {.min = 1, .max = 1'000'000};
  root.add_size("-a,--align", options.align, "Alignment of objects in the HDF5 file");
  root.add_list("-A,--api", a.apis, "APIs to test: phdf5, mpiio, posix (default all)");
  root.add_size("-B,--block-size", a.block, "Block size within the transfer buffer; 0: half of -e");
  root.add_flag("-c,--chunk", options.chunked,
                "Chunked HDF5 datasets; emulated for the other APIs");
  root.add_flag("-C,--collective", options.collective,
                "Collective MPI-IO and HDF5 (default independent)");
  root.add_count("-d,--num-dsets", g.datasets, "Datasets in a file", up_to_a_million);
  root.add_list("-D,--debug", a.debug,
                "Debugging flags, separated by commas: 1 to 4 (level), r (raw data throughput), t "
                "(times), v (verify, which is done anyway)");
  root.add_size(
      "-e,--num-bytes", a.bytes,
      "Bytes per process per dataset; 0: 256K, 2-D 8K; 2-D: the side of the square divided by "
      "the processes");
  root.add_count("-F,--num-files", options.files, "Number of files", up_to_a_million);
  root.add_flag("-g,--geometry", g.two_dimensional, "2-D geometry (default 1-D)");
  root.add_count("-i,--num-iterations", a.iterations, "Test iterations (default 1)",
                 up_to_a_million);
  root.add_flag("-I,--interleaved", g.interleaved, "Interleaved blocks (default contiguous)");
  root.add_flag("-m,--mpi-posix", a.mpi_posix, "Taken, but HDF5 has no such driver any more");
  root.add_text("-o,--output", "FILE", options.output, "File for the report")
      .default_text("standard output");
  root.add_count("-p,--min-num-processes", options.limits.min_processes, "Fewest processes",
                 {.min = 1});
  root.add_count("-P,--max-num-processes", options.limits.max_processes,
                 "Most processes (default: all)", {.min = 1});
  root.add_size("-T,--threshold", options.align_threshold, "Smallest object that -a applies to");
  root.add_flag("-w,--write-only", options.write_only, "Do not read");
  root.add_size("-x,--min-xfer-size", options.limits.min_buffer,
                "Smallest transfer buffer; 0: half of -e");
  root.add_size("-X,--max-xfer-size", options.limits.max_buffer, "Largest transfer buffer; 0: -e");
  root.add_word(
      "--emulation", options.original_emulation,
      "Chunks of POSIX and MPI-IO: as HDF5 cuts the buffer, or the buffer in one piece, as "
      "h5perf of HDF5 did",
      {{"hdf5", false}, {"original", true}});
  root.add_list("--contents", a.contents,
                "Contents, one kind for each dataset in turn: position (the default), or for a "
                "look at kept files rank, request, buffer, which are neither verified nor read");
  root.add_size("--buffer-memory", options.buffer_memory,
                "Bytes of a rank that requests may take between two meetings");
  root.add_flag("--one-buffer", options.one_buffer,
                "Move one buffer again and again, as the original did; contents are not verified");
  root.add_real(
      "--ceiling", "NUMBER", a.ceiling,
      "MB/s that are possible here, to hold figures against; 0: as fast as all processes copy "
      "memory");
  root.add_flag(
      "--no-verify", [&options] { options.run.verify = false; },
      "Do not read written files back to compare them");
  add_common_arguments(root, options);
}

std::string lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// Names in either case, in any order; none stands for all. Sorted as they run.
std::vector<Api> parse_apis(const std::vector<std::string>& words) {
  std::set<Api> named;
  for (const std::string& word : words) {
    named.insert(parse_word(lower_case(word), "-A", api_names));
  }
  if (named.empty()) return {Api::posix, Api::mpiio, Api::phdf5};
  return {named.begin(), named.end()};
}

/// Letters in either case; of several levels the highest.
DebugFlags parse_debug(const std::vector<std::string>& words) {
  DebugFlags flags;
  for (const std::string& word : words) {
    const std::string flag = lower_case(word);
    if (flag == "r") {
      flags.raw = true;
    } else if (flag == "t") {
      flags.times = true;
    } else if (flag == "v") {
      flags.verify = true;
    } else if (flag.size() == 1 && flag[0] >= '1' && flag[0] <= '4') {
      flags.level = std::max(flags.level, flag[0] - '0');
    } else {
      refuse_word(word, "-D", {"1", "2", "3", "4", "r", "t", "v"});
    }
  }
  return flags;
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
  g.bytes = a.bytes > 0 ? a.bytes : (g.two_dimensional ? 8 : 256) * 1024;
  g.block = a.block > 0 ? a.block : std::max<std::uint64_t>(g.bytes / 2, 1);
  if (g.block > g.bytes) {
    options.notes.push_back(fmt::format(
        "The block size {} is more than the {} bytes per process, and is taken as that.", g.block,
        g.bytes));
    g.block = g.bytes;
  }
}

/// In one dimension no more fits into a buffer than a process has.
void cut_to_bytes(std::uint64_t& buffer, const char* option, const TransferGeometry& geometry,
                  std::vector<std::string>& notes) {
  if (geometry.two_dimensional || buffer <= geometry.bytes) return;
  notes.push_back(
      fmt::format("The transfer buffer size {} of {} is more than the {} bytes per process, and is "
                  "taken as that.",
                  buffer, option, geometry.bytes));
  buffer = geometry.bytes;
}

/// From the most processes on, each the half of the one before.
std::vector<int> processes_of(std::uint64_t fewest, std::uint64_t most) {
  if (fewest > most) {
    throw InputError(fmt::format(
        "The fewest processes (-p {}) are more than the most (-P {}); swap them.", fewest, most));
  }
  std::vector<int> all;
  for (std::uint64_t p = most; p >= fewest; p /= 2) {
    all.push_back(static_cast<int>(p));
  }
  return all;
}

/// From the smallest buffer on, each the double of the one before. Defaults and the bounds of 1-D
/// buffers follow the guide: half the bytes per process up to all of them. Says in `notes` where a
/// size was cut.
std::vector<std::uint64_t> buffers_of(const SweepLimits& limits, const TransferGeometry& geometry,
                                      std::vector<std::string>& notes) {
  std::uint64_t smallest = limits.min_buffer;
  std::uint64_t largest = limits.max_buffer;
  cut_to_bytes(smallest, "-x", geometry, notes);
  cut_to_bytes(largest, "-X", geometry, notes);
  if (smallest > 0 && largest > 0 && smallest > largest) {
    throw InputError(fmt::format(
        "The smallest transfer buffer (-x {}) is more than the largest (-X {}); swap them.",
        smallest, largest));
  }
  // A default gives way to what was asked for.
  if (largest == 0) largest = std::max(geometry.bytes, smallest);
  if (smallest == 0) smallest = std::min(std::max(geometry.bytes / 2, geometry.block), largest);
  std::vector<std::uint64_t> all;
  for (std::uint64_t buffer = smallest; buffer <= largest; buffer *= 2) {
    all.push_back(buffer);
    if (buffer > largest / 2) break;  // the next could exceed 64 bits
  }
  return all;
}

void set_run(Options& options, const Arguments& a) {
  if (a.iterations && options.trials) {
    throw InputError(
        "-i and --trials both say how often to measure; use one (--trials adds a warm-up).");
  }
  options.run.rule = fixed_trials(a.iterations.value_or(1));
  const MethodInfo* possible[] = {&find_method("posix"), &find_method("hdf5-slab"),
                                  &find_method("mpiio-independent"),
                                  &find_method("mpiio-collective")};
  resolve_common(options, possible);
  if (options.debug.verify) options.run.verify = true;
  options.run.keep = options.run.keep || options.environment.keep;
  options.iterations = options.run.rule.max_trials;
  // Hints of the command line come last and so override those of the environment.
  options.settings.hints.insert(options.settings.hints.begin(), options.environment.hints.begin(),
                                options.environment.hints.end());
}

void set_contents(Options& options, const Arguments& a) {
  static constexpr Word<Contents> kinds[] = {{"position", Contents::position},
                                             {"rank", Contents::rank},
                                             {"request", Contents::request},
                                             {"buffer", Contents::buffer}};
  if (!a.contents.empty()) options.contents.clear();
  for (const std::string& word : a.contents) {
    options.contents.push_back(parse_word(word, "--contents", kinds));
  }
  if (options.one_buffer && options.debug.verify) {
    throw InputError(
        "-D v verifies contents, which --one-buffer does not keep apart; use one of them.");
  }
  const bool as_verified = options.contents == std::vector{Contents::position};
  if (!as_verified) options.write_only = true;
  if (!as_verified || options.one_buffer) options.run.verify = false;
}

}  // namespace

void set_sweep(Options& options, std::uint64_t ranks) {
  const std::uint64_t fewest = options.limits.min_processes;
  const std::uint64_t most = options.limits.max_processes.value_or(ranks);
  for (const auto& [option, count] : {std::pair{"-p", fewest}, std::pair{"-P", most}}) {
    if (count <= ranks) continue;
    throw InputError(fmt::format(
        "{} asks for {} processes, but there are only {}; start more of them (mpiexec -n {}).",
        option, count, ranks, count));
  }
  options.processes = processes_of(fewest, most);
  options.buffers = buffers_of(options.limits, options.geometry, options.notes);
  for (const int processes : options.processes) {
    for (const std::uint64_t buffer : options.buffers) {
      TransferGeometry geometry = options.geometry;
      geometry.buffer = buffer;
      check(geometry, static_cast<std::uint64_t>(processes));
    }
  }
}

Parsed<Options> parse(int argc, const char* const* argv) {
  CommandLine line(
      "h5perf",
      "Tests parallel I/O performance of POSIX, MPI-IO and HDF5 on 1-D and 2-D datasets.");
  Arguments arguments;
  Options options;
  options.run = one_trial();
  options.run.output_choice = "HDF5_PARAPREFIX";
  add_options(line.root(), arguments, options);
  refuse_dashes(argc, argv);
  if (auto help = line.parse(argc, argv)) return {std::nullopt, *help};

  options.apis = parse_apis(arguments.apis);
  options.debug = parse_debug(arguments.debug);
  if (options.align == 0) throw InputError("-a (alignment) is 0; give at least 1 byte.");
  options.ceiling = arguments.ceiling * 1024 * 1024;
  if (arguments.mpi_posix) {
    options.notes.push_back(
        "-m asks for the MPI-posix driver, which HDF5 has no longer; the "
        "MPI-IO driver is used.");
  }
  set_geometry(options, arguments);
  options.environment = read_environment();
  set_run(options, arguments);
  set_contents(options, arguments);
  options.configuration = line.root().options_given();
  return {std::move(options), ""};
}

}  // namespace slabmark::h5perf
