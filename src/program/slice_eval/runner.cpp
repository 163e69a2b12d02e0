#include "program/slice_eval/runner.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "bench/cell_record.hpp"
#include "measure/record_gather.hpp"
#include "parallel/agree.hpp"
#include "program/slice_eval/check.hpp"

namespace slabmark::slice_eval {

namespace fs = std::filesystem;
using steady = std::chrono::steady_clock;

namespace {

double since(steady::time_point begin) {
  return std::chrono::duration<double>(steady::now() - begin).count();
}

/// System calls of this process that write, MPI's own among them; 0 where the kernel does not say.
std::uint64_t write_calls() {
  std::ifstream file("/proc/self/io");
  std::string name;
  std::uint64_t value = 0;
  while (file >> name >> value) {
    if (name == "syscw:") return value;
  }
  return 0;
}

constexpr std::array<std::pair<std::string_view, double slice::Tally::*>, 5> parts = {{
    {"post.gather", &slice::Tally::gather},
    {"post.exchange", &slice::Tally::exchange},
    {"post.write", &slice::Tally::write},
    {"post.agree", &slice::Tally::agree},
    {"post.grow", &slice::Tally::grow},
}};

/// An output is one phase: `seconds` of this rank, and `until_all` until it knew that all were
/// done.
RankTimes times_of(double seconds, double until_all, const slice::Tally& before,
                   const slice::Tally& after) {
  RankTimes times;
  times.phase[static_cast<std::size_t>(Phase::post)] = seconds;
  times.parts = {{Phase::post, seconds, until_all}};
  times.open_to_close = seconds;
  for (const auto& [name, part] : parts) {
    times.spans[std::string(name)] = after.*part - before.*part;
  }
  return times;
}

nlohmann::json settings_of(const Options& options) {
  nlohmann::json chosen = options.settings.options;
  chosen["slice_eval.computations"] = fmt::to_string(options.computations);
  chosen["slice_eval.device"] = options.on_gpu ? "cuda" : "host";
  chosen["slice_eval.pages"] = options.huge_pages ? "huge" : "small";
  chosen["slice_eval.sweep"] = fmt::to_string(options.sweep);
  chosen["slice_eval.threads"] = fmt::to_string(options.threads);
  chosen["slice_eval.waiting"] = fmt::to_string(options.waiting);
  nlohmann::json hints = nlohmann::json::object();
  for (const auto& [key, value] : options.settings.hints) hints[key] = value;
  return {{"options", std::move(chosen)}, {"hints", std::move(hints)}};
}

}  // namespace

CellRecord begin_record(const std::string& method, const WayContext& context, std::size_t cells) {
  const auto& options = context.options;
  auto pattern = make_slice_pattern(options.grid, {context.slice}, options.type, options.fields, 1,
                                    static_cast<std::uint64_t>(context.comm.rank()),
                                    static_cast<std::uint64_t>(context.comm.size()));
  pattern.name = "slice output";
  CellRecord record;
  record.pattern = describe_pattern(context.comm, pattern);
  record.method = method;
  record.direction = "write";
  record.settings = settings_of(options);
  record.rule = fixed_trials(options.outputs);
  record.seed = options.run.seed;
  record.cells = cells;
  return record;
}

Runner::Runner(Row row, const WayContext& context)
    : row_(std::move(row)), context_(context), way_(make_way(row_.method, context)) {}

// Each rank removes the files that it knows of, since it may be alone with a failure.
Runner::~Runner() {
  const auto known = way_->files();
  way_.reset();
  if (context_.options.run.keep) return;
  std::error_code ignored;
  for (const auto& path : known) fs::remove(path, ignored);
}

void Runner::output(std::uint64_t round, std::uint64_t position) {
  const auto& comm = context_.comm;
  const auto number = iterations_.size();
  iterations_.push_back(context_.fields.iteration());
  const auto before = way_->tally();
  const auto calls = write_calls();
  comm.barrier();
  const auto begin = steady::now();
  way_->output(number, static_cast<double>(iterations_.back()));
  const double seconds = since(begin);
  comm.barrier();
  const double until_all = since(begin);
  const auto made = write_calls() - calls;
  outputs_.push_back({times_of(seconds, until_all, before, way_->tally()), round, position});
  if (round == 0) {
    warm_up_ = way_->tally();
  } else {
    kernel_writes_ += made;
  }
}

Row Runner::finish() {
  const auto begin = steady::now();
  way_->finish();
  row_.close_seconds = context_.comm.max(since(begin));
  collect_files();
  summarise();
  check();
  return std::move(row_);
}

// Which rank knows a file's name depends on who keeps it.
void Runner::collect_files() {
  std::string names;
  for (const auto& path : way_->files()) names += path + "\n";
  std::vector<std::string> all = context_.comm.gather(names);
  files_.clear();
  for (const auto& of_rank : all) {
    for (std::size_t at = 0; at < of_rank.size();) {
      const auto end = of_rank.find('\n', at);
      const auto path = of_rank.substr(at, end - at);
      if (std::find(files_.begin(), files_.end(), path) == files_.end()) files_.push_back(path);
      at = end + 1;
    }
  }
}

void Runner::summarise() {
  const auto& comm = context_.comm;
  auto& record = row_.record;
  for (const auto& output : outputs_) {
    auto trial = gather_trial(comm, output.times);
    trial.warm_up = output.round == 0;
    trial.round = output.round;
    trial.position = output.position;
    record.trials.push_back(std::move(trial));
  }
  record.stop = StopReason::fixed;
  record.memory["peak_resident"] = gather_peak_memory(comm);
  if (comm.is_root()) record.summary = slabmark::summarise(record.trials, record.pattern.bytes);

  const auto all = way_->tally();
  const auto an_output = [&](std::uint64_t slice::Tally::*bytes) {
    return comm.sum(all.*bytes - warm_up_.*bytes) / context_.options.outputs;
  };
  row_.bytes_touched = an_output(&slice::Tally::bytes_touched);
  row_.bytes_written = an_output(&slice::Tally::bytes_written);
  row_.bytes_from_device = an_output(&slice::Tally::bytes_from_device);
  row_.write_calls =
      static_cast<double>(comm.max(kernel_writes_)) / static_cast<double>(context_.options.outputs);
  row_.outputs = iterations_.size();
  row_.data_bytes = record.pattern.bytes * row_.outputs;
  row_.file_count = files_.size();
}

void Runner::check() {
  const auto& comm = context_.comm;
  auto& verified = row_.record.verified;
  agreed(comm, [&] {
    if (!comm.is_root()) return;
    for (const auto& path : files_) row_.file_bytes += fs::file_size(path);
    if (!context_.options.run.verify || way_->layout().dataset.empty()) return;
    verified.elements = check_files(context_, way_->layout(), files_, iterations_);
    verified.state = Verified::yes;
    verified.by = "serial HDF5, rank 0 all";
  });
  enter_effective(comm, row_.record, way_->effective());
  auto& effective = row_.record.effective;
  effective["bytes_touched"] = row_.bytes_touched;
  effective["bytes_written"] = row_.bytes_written;
  effective["bytes_from_device"] = row_.bytes_from_device;
  effective["write_calls_busiest_rank"] = row_.write_calls;
  effective["close_seconds"] = row_.close_seconds;
  effective["outputs"] = row_.outputs;
  effective["data_bytes"] = row_.data_bytes;
  effective["file_bytes"] = row_.file_bytes;
  effective["files"] = row_.file_count;
}

}  // namespace slabmark::slice_eval
