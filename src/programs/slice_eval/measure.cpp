#include "programs/slice_eval/measure.hpp"

#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <memory>

#include <fmt/format.h>

#include "bench/harness/run.hpp"
#include "bench/method/registry.hpp"
#include "bench/pattern/content.hpp"
#include "bench/pattern/slice_pattern.hpp"

namespace slabmark::slice_eval {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view limit = "gatherv";

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

/// The values of the fields at the points of a slice.
class FieldContent : public Content {
 public:
  FieldContent(Slice slice, bool computing, ElementType type)
      : slice_(std::move(slice)), computing_(computing), type_(type) {}

  void fill(std::size_t field, std::uint64_t time, const Extent& start, const Extent& count,
            std::byte* out) const override {
    std::array<PointRange, 3> box = slice_.ranges;
    std::size_t dimension = 0;
    for (std::size_t axis = 3; axis-- > 0;) {
      if (slice_.normal == axis) continue;
      box[axis].begin += start[dimension] * box[axis].stride;
      box[axis].end = box[axis].begin + (count[dimension++] - 1) * box[axis].stride + 1;
    }
    for (auto z = box[2].begin; z < box[2].end; z += box[2].stride) {
      for (auto y = box[1].begin; y < box[1].end; y += box[1].stride) {
        for (auto x = box[0].begin; x < box[0].end; x += box[0].stride) {
          out = store(Fields::value(field, x, y, z, computing_ ? time : 0), out);
        }
      }
    }
  }
  bool same_at_all_times() const override { return !computing_; }

 private:
  std::byte* store(double value, std::byte* out) const {
    if (type_ == ElementType::float64) {
      std::memcpy(out, &value, sizeof value);
    } else {
      const auto single = static_cast<float>(value);
      std::memcpy(out, &single, sizeof single);
    }
    return out + size_of(type_);
  }

  Slice slice_;
  bool computing_;
  ElementType type_;
};

/// One method and slice: its cell, and what the cell points to.
struct Measured {
  Pattern pattern;
  Cell cell;
  std::uint64_t calls_before = 0;
  std::uint64_t calls = 0;  ///< of this rank, the warm-up excluded
};

/// One output is one round of a file that stays open.
Pattern pattern_of(const Comm& comm, const Options& options, const Fields& fields, Slice slice) {
  auto pattern = make_slice_pattern({options.grid, {slice}, options.fields, options.type},
                                    options.outputs + 1, static_cast<std::uint64_t>(comm.rank()),
                                    static_cast<std::uint64_t>(comm.size()));
  pattern.name = "slice output";
  pattern.settings["outputs"] = "1";
  pattern.file_policy = FilePolicy::appended;
  auto source = *pattern.slices;
  source.type = ElementType::float64;
  source.device = fields.device();
  pattern.slices = std::make_shared<SliceSource>(std::move(source));
  pattern.content =
      std::make_shared<FieldContent>(std::move(slice), options.computations > 0, options.type);
  return pattern;
}

/// Why the program does not ask the method to write these fields, or nothing.
std::string unsupported_reason(const MethodInfo& method, const Options& options) {
  if (method.format != FileFormat::hdf5) return "";
  if (options.on_gpu) return "it reads the fields in the host's memory";
  if (options.type != ElementType::float64) return "it writes the type that is in memory";
  return "";
}

/// The sizes of the files, before they are removed.
void describe_files(const Comm& comm, const Options& options, const Measured& one,
                    Json& effective) {
  const auto& path = one.cell.path;
  auto files = one.cell.method->file().companions ? one.cell.method->file().companions(path)
                                                  : std::vector<std::string>{};
  if (fs::exists(path)) files.push_back(path);
  std::uint64_t bytes = 0;
  for (const auto& file : files) bytes += fs::file_size(file);
  const auto output_bytes = comm.sum(moved_bytes(one.pattern)) / one.pattern.rounds;
  const bool tells = effective.contains("bytes_written");
  if (!tells) {
    effective["bytes_touched"] = 0;
    effective["bytes_written"] = output_bytes;
    effective["bytes_from_device"] = 0;
  }
  effective["write_calls_busiest_rank"] =
      static_cast<double>(comm.max(one.calls)) / static_cast<double>(options.outputs);
  effective["outputs"] = one.pattern.rounds;
  effective["data_bytes"] = output_bytes * one.pattern.rounds;
  effective["file_bytes"] = bytes;
  effective["files"] = files.size();
}

/// In the order of the report.
std::vector<Row> rows_asked_for(const Options& options) {
  std::vector<Row> rows;
  for (const auto* method : options.methods) {
    if (!copies_first(method->name)) rows.push_back({method->name, false, {}});
    rows.push_back({method->name, true, {}});
  }
  return rows;
}

Json own_settings(const Options& options) {
  return {{"slice_eval.computations", fmt::to_string(options.computations)},
          {"slice_eval.device", options.on_gpu ? "cuda" : "host"},
          {"slice_eval.pages", options.huge_pages ? "huge" : "small"},
          {"slice_eval.sweep", fmt::to_string(options.sweep)}};
}

}  // namespace

std::vector<Row> measure(const Comm& comm, const Options& options, Fields& fields) {
  Sweep sweep(options.sweep);
  auto rows = rows_asked_for(options);
  std::deque<Measured> measured;
  std::vector<Cell> cells;
  for (const auto& row : rows) {
    auto& one = measured.emplace_back();
    auto slice = slice_of(options, row.strided);
    auto& cell = one.cell;
    cell.method = &find_method(row.method);
    const bool vtkhdf = cell.method->format == FileFormat::vtkhdf;
    cell.path =
        fmt::format("{}/slice_eval_{}_{}{}{}", options.directory, row.method,
                    row.strided ? "strided" : "plain", slice.name, cell.method->file().ending);
    // A file of one slice needs no name for it in those of the fields.
    if (vtkhdf) slice.name.clear();
    one.pattern = pattern_of(comm, options, fields, std::move(slice));
    cell.settings = options.settings;
    cell.written = &one.pattern;
    cell.is_bound = row.method == limit;
    cell.reason = unsupported_reason(*cell.method, options);
    cell.memory = [&](std::span<const Transfer> transfers) {
      std::vector<std::byte*> blocks;
      for (const auto& transfer : transfers) blocks.push_back(fields.block(transfer.dataset));
      return blocks;
    };
    cell.before_round = [&](std::uint64_t round) {
      fields.compute(options.computations, round);
      sweep.run();
      one.calls_before = write_calls();
    };
    cell.after_round = [&](std::uint64_t round) {
      if (round > 0) one.calls += write_calls() - one.calls_before;
    };
    cell.completed = [&](Json& effective) { describe_files(comm, options, one, effective); };
    cells.push_back(cell);
  }
  auto run = options.run;
  run.rule = fixed_trials(options.outputs);
  auto records = run_cells(comm, cells, run);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    auto& record = rows[i].record = std::move(records[i]);
    record.settings["options"].merge(own_settings(options));
    if (record.once) record.effective["close_seconds"] = record.once->seconds(Phase::close);
  }
  return rows;
}

}  // namespace slabmark::slice_eval
