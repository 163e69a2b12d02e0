/// h5perf: POSIX, MPI-IO and parallel HDF5 on 1-D and 2-D datasets.
///
///   mpiexec -n 3 h5perf -A phdf5 -B 2000 -e 8000 -p 3 -P 3 -x 4000 -X 4000 -i 3
///
/// docs/reference/h5perf.md has the options, a sample of the output, and what differs from the
/// original.

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <fmt/format.h>

#include "bench/harness/output_directory.hpp"
#include "bench/harness/session.hpp"
#include "bench/harness/trial_file.hpp"
#include "core/base/error.hpp"
#include "core/parallel/agree.hpp"
#include "core/parallel/program.hpp"
#include "core/parallel/subset.hpp"
#include "programs/h5perf/measurement.hpp"
#include "programs/h5perf/options.hpp"
#include "programs/h5perf/report.hpp"
#include "programs/programs.hpp"
#include "storage/posix/free_path.hpp"

namespace slabmark::h5perf {

namespace {

/// Where the report goes, on rank 0: standard output or the file of -o.
class Output {
 public:
  explicit Output(const Options& options) : path_(options.output) {
    if (path_.empty()) return;
    posix::require_output(
        path_,
        {.overwrite = options.run.overwrite, .choice = "-o", .records = options.run.records});
    file_.reset(std::fopen(path_.c_str(), "w"));
    if (file_) return;
    throw InputError(
        fmt::format("The report file '{}' cannot be written ({}); choose another with -o.", path_,
                    std::strerror(errno)));
  }

  /// At once: who watches a long run wants to see what it does.
  void print(const std::string& text) {
    std::FILE* const file = file_ ? file_.get() : stdout;
    if (std::fputs(text.c_str(), file) >= 0 && std::fflush(file) == 0) return;
    throw IoError(fmt::format("The report could not be written to {} ({}).",
                              file_ ? "'" + path_ + "'" : "standard output", std::strerror(errno)));
  }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
};

/// Where the files go. The user's folder in HDF5_PARAPREFIX is `made` where it is missing, and goes
/// again if nothing stays in it; where it cannot be made, the prefix itself is taken, as the
/// original did.
std::string choose_directory(const Comm& world, const Environment& environment,
                             std::optional<OutputDirectory>& made) {
  try {
    if (environment.make_directory) made.emplace(world, environment.directory, "HDF5_PARAPREFIX");
  } catch (const Error&) {
    return environment.prefix;
  }
  return environment.directory;
}

std::string files_text(const std::vector<std::string>& paths) {
  std::string text;
  for (const std::string& path : paths) text += fmt::format("rank 0: data filename={}\n", path);
  return text;
}

constexpr std::uint64_t most_at_once = 16u << 20;
constexpr std::uint64_t bytes_a_try = 64u << 20;
constexpr int tries = 3;

/// There and back, so that no copy is in vain.
void copy(std::vector<char>& a, std::vector<char>& b, std::uint64_t copies) {
  for (std::uint64_t i = 0; i < copies; ++i) {
    a[0] = static_cast<char>(i);
    std::memcpy(b.data(), a.data(), a.size());
    std::swap(a, b);
  }
}

/// Collective. Bytes per second that all ranks together copy in memory, `bytes` at a time, from a
/// common start until the last has ended: what comes out of a page cache cannot come faster. The
/// best of a few tries, the same on all ranks.
double memcpy_ceiling(const Comm& comm, std::uint64_t bytes) {
  const std::uint64_t at_once = std::clamp<std::uint64_t>(bytes, 1, most_at_once);
  std::vector<char> a(at_once, 1);
  std::vector<char> b(at_once, 2);
  // Short copies cost more calls than bytes.
  const std::uint64_t copies = std::clamp<std::uint64_t>(bytes_a_try / at_once, 1, 100'000);
  const double total = static_cast<double>(at_once * copies) * comm.size();
  double best = 0.0;
  for (int i = 0; i < tries; ++i) {
    comm.barrier();
    const auto start = std::chrono::steady_clock::now();
    copy(a, b, copies);
    comm.barrier();
    const double mine =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    best = std::max(best, total / comm.max(mine));
  }
  return best;
}

/// The settings that all points of the sweep share.
struct Shared {
  const Options& options;
  Session& session;
  std::string directory;
  Output* output;  ///< null but on rank 0

  void print(const std::string& text) const {
    if (output != nullptr) output->print(text);
  }
};

void run_point(const Comm& comm, const Shared& shared, const Point& point, double ceiling) {
  const Options& options = shared.options;
  agreed(comm, [&] {
    if (options.debug.level == 0) return;
    shared.print(files_text(paths_of(options, point.api, shared.directory)));
  });
  std::vector<CellRecord> records = measure(comm, options, point, shared.directory);
  shared.session.finish(comm, records,
                        [&] { shared.print(format_api(options, point, records, ceiling)); });
}

/// All points of one number of processes, in the guide's order.
void run_processes(const Comm& comm, const Shared& shared, bool last) {
  const Options& options = shared.options;
  const auto processes = static_cast<std::uint64_t>(comm.size());
  agreed(comm, [&] { shared.print(format_processes(processes)); });
  for (const std::uint64_t buffer : options.buffers) {
    agreed(comm, [&] { shared.print(format_buffer(options, buffer, processes)); });
    for (const Api api : options.apis) {
      Point point = make_point(options, api, buffer);
      point.last = point.last && last;
      const double ceiling = options.ceiling > 0
                                 ? options.ceiling
                                 : memcpy_ceiling(comm, request_bytes(point.geometry));
      run_point(comm, shared, point, ceiling);
    }
  }
}

// OMPIO takes a buffer of several MiB in each collective call. glibc gives it new pages in every
// call, or keeps them from the call before once the process has freed a block of that size, as the
// original happens to have. That is worth up to twice the rate, so it must not be left to chance:
// these are the thresholds that glibc itself takes after the largest such block (mallopt(3)).
void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 64 << 20);
#endif
}

void sweep(const Comm& world, const Shared& shared) {
  for (const int processes : shared.options.processes) {
    std::exception_ptr failure;
    {
      const auto part = first_ranks(world, processes);
      try {
        if (part) run_processes(*part, shared, processes == shared.options.processes.back());
      } catch (...) {
        failure = std::current_exception();
      }
      sleeping_barrier(world);
    }
    agree(world, failure);
  }
}

void say_kept(const Shared& shared) {
  if (!shared.options.run.keep) return;
  for (const Api api : shared.options.apis) {
    for (const std::string& path : paths_of(shared.options, api, shared.directory)) {
      shared.print(fmt::format("kept: {}\n", path));
    }
  }
}

ExitStatus run(const Comm& world, Options options) {
  keep_freed_memory();
  agreed(world, [&] { set_sweep(options, static_cast<std::uint64_t>(world.size())); });
  Session session(world, "h5perf", options);
  std::optional<OutputDirectory> made;
  Shared shared{options, session, choose_directory(world, options.environment, made), nullptr};
  for (const Api api : options.apis) {
    for (const std::string& path : paths_of(options, api, shared.directory)) {
      require_free_path(world, path,
                        {.overwrite = options.run.overwrite,
                         .choice = options.run.output_choice,
                         .records = options.run.records});
    }
  }
  std::optional<Output> output;
  agreed(world, [&] {
    if (world.is_root()) shared.output = &output.emplace(options);
  });
  session.begin(shared.directory, options.configuration);
  agreed(world, [&] {
    if (!world.is_root()) return;
    for (const std::string& note : options.notes) fmt::print(stderr, "h5perf: note: {}\n", note);
    shared.print(format_parameters(options, session.environment().libraries.at("HDF5")));
  });
  sweep(world, shared);
  agreed(world, [&] { say_kept(shared); });
  return ExitStatus::good;
}

}  // namespace

}  // namespace slabmark::h5perf

const slabmark::Program& slabmark::programs::h5perf() {
  static const Program program = make_program("h5perf", h5perf::parse, h5perf::run);
  return program;
}
