/// slabmark probe: messages between nodes, a file from each, and many small files.
///
///   mpiexec -n 8 --map-by node slabmark probe nodes -d /scratch
///   mpiexec -n 8 slabmark probe files --files-per-rank 1000 --sync -d /scratch
///
/// docs/reference/probe.md has the options and what is measured.

#include "core/parallel/program.hpp"

#include <vector>

#include <fmt/format.h>

#include "bench/harness/output_directory.hpp"
#include "bench/harness/session.hpp"
#include "bench/measure/statistics.hpp"
#include "programs/probe/files.hpp"
#include "programs/probe/nodes.hpp"
#include "programs/probe/options.hpp"
#include "programs/programs.hpp"

namespace slabmark::probe {

namespace {

/// Median seconds of each node over the trials.
std::string node_table(const CellRecord& record, std::uint64_t bytes) {
  if (!record.unsupported.empty()) {
    return fmt::format("{}: not measured: {}\n", record.pattern.name, record.unsupported);
  }
  const Json& of_nodes = record.effective["of_nodes"];
  const auto seconds = of_nodes["seconds"].get<std::vector<Json>>();
  std::string text = fmt::format("{}\n", record.pattern.name);
  for (std::size_t node = 0; node < of_nodes["hosts"].size(); ++node) {
    std::vector<double> values;
    for (const auto& trial : seconds) {
      if (!trial[node].is_null()) values.push_back(trial[node].get<double>());
    }
    if (values.empty()) continue;
    text += fmt::format("  {:10.1f} MiB/s  {}\n",
                        static_cast<double>(bytes) / median(values) / (1 << 20),
                        of_nodes["hosts"][node].get<std::string>());
  }
  return text;
}

std::string file_table(const std::vector<CellRecord>& records) {
  std::string text;
  for (const CellRecord& record : records) {
    const double seconds = record.summary.open_to_close.seconds.median;
    text += fmt::format("{:>10} {:12.1f} files/s\n", record.method,
                        static_cast<double>(record.pattern.requests_total) / seconds);
  }
  return text;
}

ExitStatus run(const Comm& world, const Options& options) {
  Session session(world, "slabmark probe", options);
  const OutputDirectory directory(world, options.directory, "-d");
  session.begin(options.directory, options.configuration);
  const bool of_nodes = options.mode == Options::Mode::nodes;
  std::vector<CellRecord> records =
      of_nodes ? probe_nodes(world, options) : probe_files(world, options);
  session.finish(world, records, [&] {
    if (options.quiet) return;
    if (!of_nodes) fmt::print("{}", file_table(records));
    for (std::size_t i = 0; i < records.size() && of_nodes; ++i) {
      fmt::print("{}", node_table(records[i], i == 0 ? options.pair_bytes : options.node_bytes));
    }
  });
  return ExitStatus::good;
}

}  // namespace

}  // namespace slabmark::probe

const slabmark::Program& slabmark::programs::probe() {
  static const Program program = make_program("slabmark probe", probe::parse, probe::run);
  return program;
}
