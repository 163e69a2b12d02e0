#include "programs/h5perf/measurement.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "bench/harness/run.hpp"
#include "bench/method/registry.hpp"
#include "bench/pattern/content.hpp"
#include "core/base/error.hpp"

namespace slabmark::h5perf {

namespace {

const MethodInfo& method_of(const Options& options, Api api) {
  if (api == Api::posix) return find_method("posix");
  if (api == Api::phdf5) return find_method("hdf5-slab");
  return find_method(options.collective ? "mpiio-collective" : "mpiio-independent");
}

/// The calls of the guide: what it says of each, and for the rest HDF5's own defaults.
Settings settings_of(const Options& options) {
  Settings settings = options.settings;
  auto& set = settings.options;
  set.emplace("mpiio.view", "off");  // one call for each piece, as independent HDF5 makes them
  set.emplace("hdf5.collective", options.collective ? "on" : "off");
  set.emplace("hdf5.collective_metadata", "off");
  set.emplace("hdf5.fill", "ifset");
  set.emplace("hdf5.align", std::to_string(options.align));
  set.emplace("hdf5.align_threshold", std::to_string(options.align_threshold));
  return settings;
}

/// Fills buffers with something to look at.
auto filler(const Options& options, const Pattern& pattern, std::uint64_t rank,
            std::uint64_t requests) {
  // A byte of 0 is left for what nobody wrote.
  const auto byte = [](std::uint64_t number) { return static_cast<int>(1 + number % 255); };
  return [&options, &pattern, rank, requests, byte](std::uint64_t round, const Transfer& transfer,
                                                    std::span<std::byte> buffer) {
    const auto kind = options.contents[transfer.dataset % options.contents.size()];
    switch (kind) {
      case Contents::position:
        fill_buffer(pattern, transfer, buffer.data());
        break;
      case Contents::rank:
        std::memset(buffer.data(), byte(rank), buffer.size());
        break;
      case Contents::request:
        std::memset(buffer.data(), byte(round % requests), buffer.size());
        break;
      case Contents::buffer:
        for (std::size_t i = 0; i < buffer.size(); ++i) {
          buffer[i] = static_cast<std::byte>(byte(i));
        }
        break;
    }
  };
}

Pattern pattern_of(const Options& options, const Point& point, std::uint64_t rank,
                   std::uint64_t ranks) {
  Pattern pattern = make_transfer_pattern(point.geometry, rank, ranks);
  pattern.file_policy = FilePolicy::several;
  pattern.files = options.files;
  pattern.settings["api"] = word_for(point.api, api_names);
  if (options.one_buffer) pattern.settings["buffers"] = "one";
  return pattern;
}

/// Whose numbers are those of the files, see file_path().
std::string path_of(Api api, const std::string& directory) {
  static constexpr Word<Api> endings[] = {
      {"posix", Api::posix}, {"mpio", Api::mpiio}, {"h5", Api::phdf5}};
  return (std::filesystem::path(directory) / fmt::format("#pio_tmp.{}", word_for(api, endings)))
      .string();
}

}  // namespace

std::vector<std::string> paths_of(const Options& options, Api api, const std::string& directory) {
  Pattern pattern;
  pattern.file_policy = FilePolicy::several;
  std::vector<std::string> paths;
  for (std::uint64_t i = 0; i < options.files; ++i) {
    paths.push_back(file_path(pattern, path_of(api, directory), i));
  }
  return paths;
}

Point make_point(const Options& options, Api api, std::uint64_t buffer) {
  Point point;
  point.api = api;
  point.geometry = options.geometry;
  point.geometry.buffer = buffer;
  point.last = buffer == options.buffers.back();
  if (!options.chunked) return point;
  if (api == Api::phdf5) {
    point.geometry.storage = TransferStorage::chunked;
  } else if (point.geometry.two_dimensional) {
    // In one dimension chunks lie in the order of the elements anyway.
    point.geometry.storage = options.original_emulation ? TransferStorage::emulated_in_chunk_order
                                                        : TransferStorage::emulated;
  }
  return point;
}

std::vector<CellRecord> measure(const Comm& comm, const Options& options, const Point& point,
                                const std::string& directory) {
  const auto rank = static_cast<std::uint64_t>(comm.rank());
  const auto ranks = static_cast<std::uint64_t>(comm.size());
  const Pattern pattern = pattern_of(options, point, rank, ranks);
  Cell write;
  write.method = &method_of(options, point.api);
  write.settings = settings_of(options);
  write.written = &pattern;
  write.path = path_of(point.api, directory);
  write.one_buffer = options.one_buffer;
  const std::uint64_t in_memory = options.buffer_memory / request_bytes(point.geometry);
  write.rounds_together =
      std::max<std::uint64_t>(1, options.one_buffer ? pattern.rounds : in_memory);
  if (options.contents != std::vector{Contents::position}) {
    write.fill = filler(options, pattern, rank, requests_per_dataset(point.geometry, ranks));
  }
  std::vector<Cell> cells(options.write_only ? 1 : 2, write);
  if (!options.write_only) {
    // The guide reads what the same process wrote, from its node's page cache.
    cells[1].direction = Direction::read;
    cells[1].read = &pattern;
    cells[1].after = &cells[0];
  }
  RunOptions run = options.run;
  run.keep = run.keep && point.last;
  auto records = run_cells(comm, cells, run);
  for (const CellRecord& record : records) {
    if (record.unsupported.empty()) continue;
    throw InputError(fmt::format("API {} cannot run here, because {}.",
                                 word_for(point.api, api_names), record.unsupported));
  }
  return records;
}

}  // namespace slabmark::h5perf
