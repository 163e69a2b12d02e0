#include "program/h5perf/measurement.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "base/error.hpp"
#include "bench/cell_record.hpp"
#include "bench/trial.hpp"
#include "bench/verify.hpp"
#include "measure/record_gather.hpp"
#include "method/registry.hpp"
#include "parallel/agree.hpp"
#include "pattern/content.hpp"
#include "storage/mpiio/trial_file.hpp"

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

/// One direction of a point.
struct Pass {
  Cell cell;
  CellRecord record;
  RankTimes times;  ///< of the files of the running iteration
};

class Run {
 public:
  Run(const Comm& comm, const Options& options, const Point& point,
      const std::vector<std::string>& paths, Buffers& buffers, Deadline& deadline)
      : comm_(comm),
        options_(options),
        point_(point),
        paths_(paths),
        buffers_(buffers),
        deadline_(deadline),
        pattern_(make_transfer_pattern(point.geometry, static_cast<std::uint64_t>(comm.rank()),
                                       static_cast<std::uint64_t>(comm.size()))) {
    write_ = begin(Direction::write);
    if (!options.write_only) read_ = begin(Direction::read);
    agreed(comm_, [&] { buffers_.fit(pattern_, write_.cell.rounds_in_memory()); });
  }

  Result run() {
    const std::uint64_t first = options_.run.warm_up ? 0 : 1;
    for (std::uint64_t i = first; i <= options_.iterations; ++i) iterate(i);
    Result result{finish(write_), std::nullopt};
    if (read_) result.read = finish(*read_);
    return result;
  }

 private:
  Pass begin(Direction direction) const {
    Pass pass;
    pass.cell.method = &method_of(options_, point_.api);
    pass.cell.settings = settings_of(options_);
    pass.cell.direction = direction;
    pass.cell.written = &pattern_;
    // The guide reads what the same process wrote, from its node's page cache.
    if (direction == Direction::read) pass.cell.read = &pattern_;
    pass.cell.one_buffer = options_.one_buffer;
    const std::uint64_t in_memory = options_.buffer_memory / request_bytes(point_.geometry);
    pass.cell.rounds_together =
        std::max<std::uint64_t>(1, options_.one_buffer ? pattern_.rounds : in_memory);
    if (options_.contents != std::vector{Contents::position}) {
      const auto ranks = static_cast<std::uint64_t>(comm_.size());
      pass.cell.fill = filler(options_, pattern_, static_cast<std::uint64_t>(comm_.rank()),
                              requests_per_dataset(point_.geometry, ranks));
    }
    pass.record = begin_record(comm_, pass.cell, options_.run, 1);
    pass.record.pattern.bytes *= options_.files;
    pass.record.pattern.settings["files"] = std::to_string(options_.files);
    pass.record.pattern.settings["api"] = name_of(point_.api);
    if (options_.one_buffer) pass.record.pattern.settings["buffers"] = "one";
    if (direction == Direction::read) pass.record.cache = "warm";
    if (pass.record.unsupported.empty()) return pass;
    throw InputError(fmt::format("API {} cannot run here, because {}.", name_of(point_.api),
                                 pass.record.unsupported));
  }

  void iterate(std::uint64_t iteration) {
    for (const std::string& path : paths_) {
      mpiio::TrialFile file(comm_, path);
      write(file);
      if (read_) read(path);
      if (options_.run.keep && point_.last && iteration == options_.iterations) file.keep();
    }
    gather(write_, iteration);
    if (read_) gather(*read_, iteration);
  }

  void write(mpiio::TrialFile& file) {
    write_.cell.path = file.path();
    const Trial trial =
        write_trial(comm_, write_.cell, file, buffers_, options_.run.sync, deadline_);
    add(write_, trial);
    if (!options_.run.verify) return;
    const FileCheck check = verify_file(comm_, write_.cell.method->format, pattern_, file.path());
    note_check(write_, check.elements_checked, check.first_mismatch,
               "plain reader, each rank an equal range");
  }

  void read(const std::string& path) {
    read_->cell.path = path;
    const Trial trial = read_trial(comm_, read_->cell, buffers_, options_.run.verify, deadline_);
    add(*read_, trial);
    if (!options_.run.verify) return;
    note_check(*read_, comm_.sum(trial.checked), describe_agreed(comm_, trial.mismatch, pattern_),
               "buffers, each rank its own part");
  }

  void add(Pass& pass, const Trial& trial) const {
    pass.times += trial.times;
    enter_effective(comm_, pass.record, trial.effective);
  }

  void note_check(Pass& pass, std::uint64_t elements, const std::string& mismatch,
                  const std::string& by) const {
    pass.record.verified = {mismatch.empty() ? Verified::yes : Verified::no,
                            pass.record.verified.elements + elements, by, mismatch};
    if (mismatch.empty()) return;
    throw IoError(fmt::format("Verification of {} {} failed in '{}': {}", name_of(point_.api),
                              pass.record.direction, pass.cell.path, mismatch));
  }

  void gather(Pass& pass, std::uint64_t iteration) const {
    TrialRecord trial = gather_trial(comm_, pass.times);
    trial.warm_up = iteration == 0;
    trial.round = iteration;
    pass.record.trials.push_back(std::move(trial));
    pass.times = RankTimes{};
  }

  CellRecord finish(Pass& pass) const {
    CellRecord& record = pass.record;
    record.stop = StopReason::fixed;
    const std::uint64_t bytes = buffer_bytes(pattern_, pass.cell.rounds_in_memory());
    record.memory["buffers"] = gather_summary(comm_, static_cast<double>(bytes));
    if (comm_.is_root()) record.summary = summarise(record.trials, record.pattern.bytes);
    return std::move(record);
  }

  const Comm& comm_;
  const Options& options_;
  const Point& point_;
  const std::vector<std::string>& paths_;
  Buffers& buffers_;
  Deadline& deadline_;
  const Pattern pattern_;
  Pass write_;
  std::optional<Pass> read_;
};

std::string_view extension(Api api) {
  switch (api) {
    case Api::posix:
      return "posix";
    case Api::mpiio:
      return "mpio";
    case Api::phdf5:
      break;
  }
  return "h5";
}

}  // namespace

std::string name_of(Api api) {
  switch (api) {
    case Api::posix:
      return "posix";
    case Api::mpiio:
      return "mpiio";
    case Api::phdf5:
      break;
  }
  return "phdf5";
}

std::vector<std::string> paths_of(const Options& options, Api api, const std::string& directory) {
  std::vector<std::string> paths;
  for (std::uint64_t i = 1; i <= options.files; ++i) {
    const std::string name = fmt::format("#pio_tmp_{}.{}", i, extension(api));
    paths.push_back((std::filesystem::path(directory) / name).string());
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

Result measure(const Comm& comm, const Options& options, const Point& point,
               const std::vector<std::string>& paths, Buffers& buffers, Deadline& deadline) {
  return Run(comm, options, point, paths, buffers, deadline).run();
}

}  // namespace slabmark::h5perf
