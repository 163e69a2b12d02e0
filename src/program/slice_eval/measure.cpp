#include "program/slice_eval/measure.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "measure/order.hpp"
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

slice::Tally difference(const slice::Tally& later, const slice::Tally& earlier) {
  return {later.grow - earlier.grow,
          later.gather - earlier.gather,
          later.exchange - earlier.exchange,
          later.write - earlier.write,
          later.agree - earlier.agree,
          later.bytes_touched - earlier.bytes_touched,
          later.bytes_written - earlier.bytes_written,
          later.requests - earlier.requests};
}

/// A way that takes part, its files with it.
class Runner {
 public:
  Runner(Row row, const WayContext& context)
      : row_(std::move(row)), context_(context), way_(make_way(row_.method, context)) {}

  // Each rank removes the files that it knows of, since it may be alone with a failure.
  ~Runner() {
    const auto known = way_->files();
    way_.reset();
    if (context_.options.keep) return;
    std::error_code ignored;
    for (const auto& path : known) fs::remove(path, ignored);
  }
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  void output(bool warm_up) {
    const auto& comm = context_.comm;
    const auto number = iterations_.size();
    iterations_.push_back(context_.fields.iteration());
    const auto calls = write_calls();
    comm.barrier();
    const auto begin = steady::now();
    way_->output(number, static_cast<double>(iterations_.back()));
    const double seconds = comm.max(since(begin));
    const auto made = write_calls() - calls;
    const auto before = std::exchange(so_far_, way_->tally());
    if (warm_up) return;
    tallies_.push_back(difference(so_far_, before));
    row_.seconds.push_back(seconds);
    kernel_writes_ += made;
  }

  Row finish() {
    const auto& comm = context_.comm;
    const auto begin = steady::now();
    way_->finish();
    row_.finish = comm.max(since(begin));
    collect_files();
    summarise();
    agreed(comm, [&] {
      if (!comm.is_root()) return;
      for (const auto& path : files_) row_.file_bytes += fs::file_size(path);
      if (context_.options.verify && !way_->layout().dataset.empty()) {
        row_.verified = check_files(context_, way_->layout(), files_, iterations_);
      }
    });
    return row_;
  }

 private:
  // Which rank knows a file's name depends on who keeps it.
  void collect_files() {
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

  /// Median over the outputs of the slowest rank's seconds in a part.
  double median_of(double slice::Tally::*part) const {
    std::vector<double> seconds;
    for (const auto& tally : tallies_) seconds.push_back(context_.comm.max(tally.*part));
    return median(seconds);
  }

  void summarise() {
    const auto& comm = context_.comm;
    const auto outputs = static_cast<double>(row_.seconds.size());
    auto& all = row_.slowest;
    all.gather = median_of(&slice::Tally::gather);
    all.exchange = median_of(&slice::Tally::exchange);
    all.write = median_of(&slice::Tally::write);
    all.agree = median_of(&slice::Tally::agree);
    slice::Tally mine;
    for (const auto& tally : tallies_) {
      mine.grow += tally.grow;
      mine.bytes_touched += tally.bytes_touched;
      mine.bytes_written += tally.bytes_written;
    }
    all.grow = comm.max(mine.grow) / outputs;
    all.bytes_touched = comm.sum(mine.bytes_touched) / tallies_.size();
    all.bytes_written = comm.sum(mine.bytes_written) / tallies_.size();
    all.requests = comm.max(tallies_.back().requests);
    row_.kernel_writes = static_cast<double>(comm.max(kernel_writes_)) / outputs;
    std::uint64_t points = context_.options.fields * size_of(context_.options.type);
    for (const auto& range : context_.slice.ranges) points *= range.count();
    row_.data_bytes = points * iterations_.size();
    row_.outputs = iterations_.size();
    row_.file_count = files_.size();
  }

  Row row_;
  WayContext context_;
  std::unique_ptr<Way> way_;
  std::vector<std::uint64_t> iterations_;
  std::vector<std::string> files_;
  slice::Tally so_far_;
  std::vector<slice::Tally> tallies_;  ///< an output each
  std::uint64_t kernel_writes_ = 0;
};

Slice slice_of(const Options& options, bool strided) {
  auto all = whole_field(options.grid);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    all.ranges[axis].stride = strided ? options.stride[axis] : 1;
  }
  return plane_of(all, options.normal, options.position);
}

/// Evicts the fields from the caches, as the simulation's own work would.
class Sweep {
 public:
  explicit Sweep(std::uint64_t bytes) : memory_(bytes / sizeof(double), 1.0) {}
  void run() {
    for (auto& value : memory_) value += 1.0;
  }

 private:
  std::vector<double> memory_;
};

}  // namespace

std::vector<Row> measure(const Comm& comm, const Options& options, Fields& fields) {
  std::vector<Row> rows;
  std::vector<std::unique_ptr<Runner>> runners;
  std::vector<std::size_t> row_of;
  for (const auto& method : options.methods) {
    for (const bool strided : {false, true}) {
      if (!strided && copies_first(method)) continue;
      Row row;
      row.method = method;
      row.strided = strided;
      const auto stem = fmt::format("{}/slice_eval_{}_{}", options.directory, method,
                                    strided ? "strided" : "plain");
      const WayContext context{comm, options, fields, slice_of(options, strided), stem};
      row.left_out = reason_against(method, context);
      if (row.left_out.empty()) {
        runners.push_back(std::make_unique<Runner>(row, context));
        row_of.push_back(rows.size());
      }
      rows.push_back(row);
    }
  }
  Sweep sweep(options.sweep);
  TrialOrder order(runners.size(), options.seed);
  for (std::uint64_t round = 0; round <= options.outputs; ++round) {
    for (const auto i : order.next_round()) {
      for (std::uint64_t n = 0; n < options.computations; ++n) fields.compute();
      sweep.run();
      runners[i]->output(round == 0);
    }
  }
  for (std::size_t i = 0; i < runners.size(); ++i) rows[row_of[i]] = runners[i]->finish();
  return rows;
}

}  // namespace slabmark::slice_eval
