// The rearranged methods of the benchmark.
#include <map>
#include <optional>

#include "bench/measure/clock.hpp"
#include "bench/method/raw/raw_layout.hpp"
#include "bench/method/registry.hpp"
#include "bench/method/timed_file.hpp"
#include "bench/pattern/selection.hpp"
#include "collective/conformance/adapter.hpp"
#include "storage/zarr/array_reader.hpp"

namespace slabmark::conformance {

namespace {

Pattern pattern_of(const Program& program, int rank) {
  Pattern pattern;
  pattern.name = "conformance";
  for (const Array& array : program.arrays) {
    Dataset dataset;
    dataset.name = array.name;
    dataset.type = array.type;
    dataset.has_time = array.has_records;
    for (std::size_t d = 0; d < array.extent.size(); ++d) {
      dataset.dimensions.push_back({array.name + std::to_string(d), array.extent[d]});
    }
    pattern.datasets.push_back(std::move(dataset));
  }
  pattern.rounds = program.steps.size();
  pattern.transfers = [&program, rank](std::uint64_t round) {
    std::vector<Transfer> transfers;
    for (const Request& request : program.steps[round]) {
      const Extent& extent = program.array_of(request).extent;
      RunList rows = split_at_rows(request.runs[static_cast<std::size_t>(rank)], extent.back());
      transfers.push_back(
          {request.array, request.record,
           rows.empty() ? select_none(extent) : select_row_runs(extent, std::move(rows)), nullptr});
    }
    return transfers;
  };
  return pattern;
}

class MethodSession : public Session {
 public:
  MethodSession(const MethodInfo& info, const Comm& comm, const Program& program,
                const Settings& settings, Direction direction, const std::string& path,
                std::shared_ptr<void>* kept)
      : pattern_(pattern_of(program, comm.rank())),
        settings_(settings),
        clock_(comm),
        file_(info, {comm, pattern_, direction, settings_, clock_, kept}) {
    file_.begin(path);
  }

  void move(std::size_t step, Buffers& buffers) override {
    std::vector<std::byte*> pointers;
    for (auto& buffer : buffers) pointers.push_back(buffer.data());
    const std::span<std::byte* const> one = pointers;
    file_.move(step, {&one, 1});
  }

  void close() override { file_.end(); }

 private:
  Pattern pattern_;
  Settings settings_;
  PhaseClock clock_;
  TimedFile file_;
};

class ZarrStore : public PlainFile {
 public:
  explicit ZarrStore(std::string path) : path_(std::move(path)) {}

  std::vector<std::byte> read(const Array& array, std::uint64_t record, Run run) override {
    zarr::ArrayReader reader(path_ + '/' + array.name);
    std::vector<std::byte> bytes(run.length * size_of(array.type));
    std::byte* next = bytes.data();
    const Boxes boxes = boxes_of(array, record, {run});
    for (std::size_t b = 0; b < boxes.starts.size(); ++b) {
      reader.read(boxes.starts[b], boxes.counts[b], next);
      next += element_count(boxes.counts[b]) * size_of(array.type);
    }
    return bytes;
  }

 private:
  std::string path_;
};

class MethodAdapter : public Adapter {
 public:
  MethodAdapter(const MethodInfo& info, const Comm& comm, const OpenOptions& options)
      : info_(info), comm_(comm), settings_{{}, options.hints} {
    const std::string prefix = info.name.substr(0, info.name.find('-'));
    if (options.little_memory) settings_.options[prefix + ".window"] = "1K";
    if (options.no_shared_memory) settings_.options[prefix + ".node_ranks"] = "1";
    if (options.overlap && prefix != "zarr") settings_.options[prefix + ".overlap"] = "on";
  }

  std::string lacks(Ability ability) const override {
    switch (ability) {
      case Ability::share_elements:
        return "a pattern's elements are each written by one rank";
      case Ability::repeat_elements:
      case Ability::rewrite:
        return "a pattern writes an element once a step";
      case Ability::overrun:
        return "no pattern can be made of selections that leave their dataset";
      case Ability::go_on:
        return "a trial ends with its first failure";
      case Ability::fail:
        return info_.format == FileFormat::zarr ? "no file of a store is as large as the bound"
                                                : "";
      default:
        return "";
    }
  }

  std::unique_ptr<Session> create(const std::string& path, const Program& program) override {
    return start(path, program, Direction::write);
  }
  std::unique_ptr<Session> open(const std::string& path, const Program& program) override {
    return start(path, program, Direction::read);
  }

  std::unique_ptr<PlainFile> open_plainly(const std::string& path,
                                          const Program& program) const override {
    if (info_.format == FileFormat::hdf5) return open_hdf5(path);
    if (info_.format == FileFormat::zarr) return std::make_unique<ZarrStore>(path);
#if SLABMARK_WITH_PNETCDF
    if (info_.format == FileFormat::netcdf) return open_netcdf(path);
#endif
    const RawLayout layout(pattern_of(program, 0));
    return open_raw(path, [layout, &program](const Array& array, std::uint64_t record) {
      return layout.offset(static_cast<std::size_t>(&array - program.arrays.data()), record);
    });
  }

 private:
  std::unique_ptr<Session> start(const std::string& path, const Program& program,
                                 Direction direction) {
    return std::make_unique<MethodSession>(info_, comm_, program, settings_, direction, path,
                                           &kept_);
  }

  const MethodInfo& info_;
  const Comm& comm_;
  Settings settings_;
  std::shared_ptr<void> kept_;
};

}  // namespace

std::vector<AdapterInfo> method_adapters() {
  std::vector<AdapterInfo> infos;
  for (const MethodInfo& info : methods()) {
    if (!info.missing.empty() || !info.name.ends_with("-rearranged")) continue;
    infos.push_back({info.name, [&info](const Comm& comm, const OpenOptions& options) {
                       return std::make_unique<MethodAdapter>(info, comm, options);
                     }});
  }
  return infos;
}

}  // namespace slabmark::conformance
