#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mpi.h>

#include "programs/h5perf/report.hpp"

namespace slabmark::h5perf {

namespace {

/// "256K" where that is exact, else bytes.
std::string size_text(std::uint64_t bytes) {
  constexpr std::string_view suffixes = "GMK";
  for (std::size_t i = 0; i < suffixes.size(); ++i) {
    const std::uint64_t unit = std::uint64_t{1} << (10 * (suffixes.size() - i));
    if (bytes >= unit && bytes % unit == 0) return fmt::format("{}{}", bytes / unit, suffixes[i]);
  }
  return std::to_string(bytes);
}

std::string apis_text(const Options& options) {
  std::vector<std::string> names;
  for (const Api api : options.apis) names.emplace_back(word_for(api, api_names));
  return fmt::format("{}", fmt::join(names, " "));
}

std::string dataset_text(const Options& options, int processes) {
  const TransferGeometry& g = options.geometry;
  const std::string side = size_text(g.bytes * static_cast<std::uint64_t>(processes));
  return g.two_dimensional ? side + "x" + side : side;
}

/// Bytes of a process in a 2-D dataset.
std::string square_text(const TransferGeometry& g, int processes) {
  return size_text(g.bytes * g.bytes * static_cast<std::uint64_t>(processes));
}

std::string buffer_text(const Options& options, std::uint64_t buffer) {
  const TransferGeometry& g = options.geometry;
  const std::string block = size_text(g.block);
  const std::string length = size_text(buffer);
  if (!g.two_dimensional) return length;
  return g.interleaved ? length + "x" + block : block + "x" + length;
}

std::string file_text(const Options& options, int processes) {
  return size_text(dataset_bytes(options.geometry, static_cast<std::uint64_t>(processes)) *
                   options.geometry.datasets);
}

std::string block_text(const Options& options) {
  const std::string block = size_text(options.geometry.block);
  return options.geometry.two_dimensional ? block + "x" + block : block;
}

std::string info_text(const Options& options) {
  const auto& hints = options.settings.hints;
  if (hints.empty()) return "object is MPI_INFO_NULL\n";
  std::string text = fmt::format("object has {} keys\n", hints.size());
  for (const auto& [key, value] : hints) text += fmt::format("{}={}\n", key, value);
  return text;
}

std::string kept_text(const Options& options, const std::string& label, const std::string& value) {
  return options.debug.level == 0 ? "" : fmt::format("rank 0: {}={}\n", label, value);
}

}  // namespace

std::string format_parameters(const Options& options, const std::string& hdf5_version) {
  const TransferGeometry& g = options.geometry;
  const int least = options.processes.back();
  const int most = options.processes.front();
  std::string text = fmt::format("HDF5 Library: Version {}\n", hdf5_version);
  const auto add = [&text](std::string_view label, const std::string& value) {
    text += fmt::format("rank 0: {}={}\n", label, value);
  };
  text += "rank 0: ==== Parameters ====\n";
  add("IO API", apis_text(options));
  add("Number of files", std::to_string(options.files));
  add("Number of datasets", std::to_string(g.datasets));
  add("Number of iterations", std::to_string(options.iterations));
  add("Number of processes", fmt::format("{}:{}", least, most));
  add("Number of bytes per process per dataset",
      g.two_dimensional ? fmt::format("{}:{}", square_text(g, least), square_text(g, most))
                        : size_text(g.bytes));
  add("Size of dataset(s)",
      fmt::format("{}:{}", dataset_text(options, least), dataset_text(options, most)));
  add("File size", fmt::format("{}:{}", file_text(options, least), file_text(options, most)));
  add("Transfer buffer size", fmt::format("{}:{}", buffer_text(options, options.buffers.front()),
                                          buffer_text(options, options.buffers.back())));
  add("Block size", block_text(options));
  add("Block Pattern in Dataset", g.interleaved ? "Interleaved" : "Contiguous");
  add("I/O Method for MPI and HDF5", options.collective ? "Collective" : "Independent");
  add("Geometry", g.two_dimensional ? "2D" : "1D");
  add("VFL used for HDF5 I/O", "MPI-I/O driver");
  add("Data storage method in HDF5", options.chunked ? "Chunked" : "Contiguous");
  add("Env HDF5_PARAPREFIX",
      options.environment.prefix.empty() ? "not set" : options.environment.prefix);
  text += kept_text(options, "Directory of the files", options.environment.directory);
  text += kept_text(options, "Chunks of POSIX and MPI-IO",
                    options.original_emulation ? "as the original laid them out" : "as HDF5's");
  text += fmt::format("rank 0: Dumping MPI Info Object({}) (up to 1024 bytes per item):\n",
                      MPI_Info_c2f(MPI_INFO_NULL));
  text += info_text(options);
  return text + "rank 0: ==== End of Parameters ====\n";
}

}  // namespace slabmark::h5perf
