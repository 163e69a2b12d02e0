#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "bench/method/hdf5/method.hpp"
#include "bench/method/raw/raw_layout.hpp"
#include "bench/method/rearranged/hdf5_layout.hpp"
#include "bench/method/rearranged/method.hpp"
#include "collective/filters/filtered_flush.hpp"
#include "core/base/error.hpp"
#include "core/parallel/agree.hpp"

namespace slabmark {

namespace {

std::uint64_t chunks_of(const Dataset& dataset, const Hdf5Chunks& chunks, std::uint64_t records) {
  const Extent chunk = chunks.of(dataset);
  if (chunk.empty() || element_count(dataset.extent()) == 0) return 0;
  const Extent whole = with_records(dataset, records);
  std::uint64_t count = 1;
  for (std::size_t d = 0; d < chunk.size(); ++d) count *= (whole[d] + chunk[d] - 1) / chunk[d];
  return count;
}

/// Sets how large a node of an index is, so that one has few empty places: with those of HDF5, 414
/// datasets of one chunk have 1.3 MB of metadata, and with these 0.5. And enough metadata of all
/// datasets to lie in one block, before the data: HDF5 2.2 takes somewhat less for a dataset with
/// its entry in the group, and for an attribute.
void choose_metadata_size(const Pattern& pattern, Hdf5Options& options) {
  constexpr std::uint64_t least = 8, most = 64;
  std::uint64_t bytes = 2048 + 128 * pattern.attributes.size();
  const std::uint64_t records = record_count(pattern);
  std::vector<std::uint64_t> chunks;
  for (const Dataset& dataset : pattern.datasets) {
    chunks.push_back(chunks_of(dataset, options.chunks, records));
  }
  const std::uint64_t node =
      std::clamp(chunks.empty() ? least : std::ranges::max(chunks), least, most);
  options.index_node = static_cast<unsigned>(node);
  for (std::size_t d = 0; d < chunks.size(); ++d) {
    const Dataset& dataset = pattern.datasets[d];
    bytes += 512 + 128 * dataset.attributes.size();
    // A node has a header, and for each chunk a key (coordinates, bytes, mask) and an address.
    const std::uint64_t key = 8 * (dataset.dimensions.size() + 3);
    if (chunks[d] > 0) bytes += 24 + (node + 2) * (key + 8);
  }
  options.metadata_block = bytes;
}

/// The options of HDF5 methods that are of use here.
OptionTable<Hdf5Options> file_options() {
  std::vector<std::string> names = filter_options();
  names.insert(names.end(), {"hdf5.libver", "hdf5.chunk"});
  return hdf5_options().only(names);
}

/// The chunks with filters of a file that the root alone has open in HDF5, and all ranks in MPI-IO.
class Hdf5ChunkStore : public ChunkStore {
 public:
  Hdf5ChunkStore(const Comm& comm, const Hdf5Layout& layout, collective::File& file)
      : comm_(comm), layout_(layout), file_(file) {}

  /// On root, before all else: what the file holds, and its datasets if chunks are to be added;
  /// they outlive this.
  void know(std::span<const FilteredChunk> held, std::span<const hdf5::Dataset> datasets,
            const std::string& path) {
    for (const FilteredChunk& chunk : held) held_[chunk.place] = chunk;
    datasets_ = datasets;
    path_ = path;
  }

  void look_up(std::vector<FilteredChunk>& chunks) override {
    by_root(comm_, chunks, [&](std::span<FilteredChunk> all) {
      for (FilteredChunk& chunk : all) {
        const auto found = held_.find(chunk.place);
        if (found != held_.end()) chunk = found->second;
      }
    });
  }

  void allocate(std::vector<FilteredChunk>& chunks) override {
    by_root(comm_, chunks, [&](std::span<FilteredChunk> all) {
      const auto dataset_of = [&](const FilteredChunk& chunk) {
        return layout_.chunk_at(chunk.place).dataset;
      };
      while (!all.empty()) {
        const std::size_t dataset = dataset_of(all.front());
        const auto end = std::find_if(all.begin(), all.end(), [&](const FilteredChunk& chunk) {
          return dataset_of(chunk) != dataset;
        });
        allocate_of(dataset, all.first(static_cast<std::size_t>(end - all.begin())));
        all = all.subspan(static_cast<std::size_t>(end - all.begin()));
      }
    });
  }

  void read(std::uint64_t address, std::byte* memory, std::uint64_t bytes) override {
    file_.read(address, memory, bytes);
  }
  void write(std::uint64_t address, std::byte* memory, std::uint64_t bytes) override {
    file_.write(address, memory, bytes);
  }

 private:
  void allocate_of(std::size_t dataset, std::span<FilteredChunk> chunks) {
    std::vector<hdf5::StoredChunk> stored;
    for (const FilteredChunk& chunk : chunks) stored.push_back(layout_.stored(chunk));
    hdf5::allocate_chunks(datasets_[dataset].get(), stored, path_);
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      chunks[i].address = stored[i].address;
      held_[chunks[i].place] = chunks[i];
    }
  }

  const Comm& comm_;
  const Hdf5Layout& layout_;
  collective::File& file_;
  std::string path_;
  std::map<std::uint64_t, FilteredChunk> held_;  ///< on root, by place
  std::span<const hdf5::Dataset> datasets_;      ///< on root
};

/// An HDF5 file. Datasets get their space when they are created, but for those with filters, whose
/// chunks get it when it is known how much they need: for that the root keeps the file open in HDF5
/// until it is closed.
class Hdf5Header : public RearrangedHeader {
 public:
  Hdf5Header(const MethodContext& context)
      : comm_(context.comm),
        pattern_(context.pattern),
        options_(completed(file_options().read(context.settings))),
        layout_(pattern_) {
    // Where chunks get their space one flush after another, so does their index.
    if (!options_.has_filters()) choose_metadata_size(pattern_, options_);
    options_.replace = true;  // MPI-IO has made the file
    options_.chunk_cache = false;
    options_.times = false;  // as netCDF does, so that files that are defined alike are the same
  }

  void create(const std::string& path, const mpiio::Hints& hints) override {
    // MPI-IO makes the file, for striping hints hold from then on; HDF5 goes on without it, since
    // defining is slower through its parallel driver even on one rank.
    mpiio::File::create(MPI_COMM_SELF, path, hints).close();
    options_.placeholders = options_.has_filters();
    file_ = hdf5::File::create_serial(path, options_);
  }

  std::vector<std::uint64_t> define() override {
    const std::uint64_t records = record_count(pattern_);
    layout_ = Hdf5Layout(pattern_);
    for (const Dataset& dataset : pattern_.datasets) {
      hdf5::CreationSettings creation = options_;
      creation.chunk = options_.chunks.of(dataset);
      const bool filtered = creation.has_filters() && !creation.chunk.empty();
      creation.alloc = filtered ? H5D_ALLOC_TIME_INCR : H5D_ALLOC_TIME_EARLY;
      const hdf5::Space space(with_records(dataset, records), dataset.has_time);
      datasets_.push_back(file_.create_dataset(dataset.name, dataset.type, space, creation));
      datasets_.back().put_attributes(dataset.attributes);
      layout_.add(datasets_.back(), file_.path(), &file_.creation_list(creation));
    }
    file_.put_attributes(pattern_.attributes);
    if (!layout_.has_filters()) close_in_hdf5();
    return layout_.numbers();
  }

  // Files of later formats have checksums, and groups that remember when they were made.
  RunList metadata(std::uint64_t file_bytes) const override {
    if (layout_.has_filters() || options_.low != H5F_LIBVER_EARLIEST) return {};
    RunList free;
    std::uint64_t begin = 0;
    for (const Run data : layout_.data()) {
      if (data.offset > begin) free.push_back({begin, data.offset - begin});
      begin = std::max(begin, data.end());
    }
    if (file_bytes > begin) free.push_back({begin, file_bytes - begin});
    return free;
  }

  std::vector<std::uint64_t> read(const std::string& path) override {
    file_ = hdf5::File::open_serial(path);
    layout_ = Hdf5Layout(pattern_);
    for (const Dataset& dataset : pattern_.datasets) {
      datasets_.push_back(file_.open_dataset(dataset.name, dataset.type));
      if (!datasets_.back().is_native()) {
        throw IoError(fmt::format(
            "Dataset '{}' of '{}' does not hold {} as this machine does, and bytes that are read "
            "without HDF5 are not converted; read it with another HDF5 method.",
            dataset.name, path, name_of(dataset.type)));
      }
      layout_.add(datasets_.back(), path);
    }
    close_in_hdf5();
    return layout_.numbers();
  }

  // The root keeps what it alone knows.
  void learn(std::span<const std::uint64_t> numbers, collective::File& file) override {
    const std::vector<FilteredChunk> held = layout_.filtered();
    layout_ = Hdf5Layout(pattern_, numbers);
    if (!layout_.has_filters()) return;
    store_ = std::make_unique<Hdf5ChunkStore>(comm_, layout_, file);
    store_->know(held, datasets_, file_.path());
    filters_ = std::make_unique<FilteredFlush>(comm_, *store_);
  }

  std::uint64_t offset(std::span<const std::uint64_t>, std::size_t dataset,
                       std::uint64_t time) const override {
    return layout_.offset(dataset, time);
  }
  const ChunkGrid* grid(std::size_t dataset) const override { return layout_.grid(dataset); }
  bool has_filters(std::size_t dataset) const override { return layout_.has_filters(dataset); }

  void adjust(RearrangerSettings& settings) const override {
    for (std::size_t d = 0; d < pattern_.datasets.size(); ++d) {
      if (layout_.has_filters(d)) settings.unit = std::max(settings.unit, layout_.chunk_bytes(d));
    }
    // All cores run filters, not those of a few aggregators.
    if (layout_.has_filters() && settings.aggregators == 0) {
      settings.aggregators = static_cast<std::uint64_t>(comm_.size());
    }
  }

  collective::File::Mover mover(bool writing) override {
    return [this, writing](Rearranger& rearranger, const Rearranger::Flush& flush,
                           const Rearranger::FileAccess& access) {
      const auto by_chunks = [&](std::uint64_t offset, std::byte* memory, std::uint64_t bytes) {
        layout_.for_each_piece(offset, bytes, [&](std::uint64_t address, std::uint64_t length) {
          access(address, memory, length);
          memory += length;
        });
      };
      if (!layout_.has_filters()) {
        return writing ? rearranger.write(flush, by_chunks) : rearranger.read(flush, by_chunks);
      }
      const auto arrays = filtered_arrays(flush.domain);
      return writing ? filters_->write(rearranger, flush, arrays, by_chunks)
                     : filters_->read(rearranger, flush, arrays, by_chunks);
    };
  }

  void sync() override {
    if (comm_.is_root() && file_.get() >= 0) file_.flush();
  }

  // Without filters it was closed when it was defined, or read.
  void close() override {
    if (!filters_) return;
    agreed(comm_, [&] { close_in_hdf5(); });
    const FilterTally& tally = filters_->tally();
    const std::uint64_t raw = comm_.sum(tally.raw_bytes);
    const std::uint64_t stored = comm_.sum(tally.stored_bytes);
    const double seconds = comm_.max(tally.filters);
    report_ = {{"chunks", comm_.sum(tally.chunks)},
               {"raw_bytes", raw},
               {"stored_bytes", stored},
               {"ratio", stored > 0 ? static_cast<double>(raw) / static_cast<double>(stored) : 0.0},
               {"seconds", seconds},
               {"raw_bytes_per_second", seconds > 0 ? static_cast<double>(raw) / seconds : 0.0},
               {"allocation_seconds", comm_.max(tally.allocation)}};
  }

  void report(Json& effective) const override {
    if (filters_) effective["filters"] = report_;
  }

  std::string library() const override { return "HDF5 " + hdf5::library_version(); }

 private:
  void close_in_hdf5() {
    datasets_.clear();
    file_.close();
  }

  // In the order of the file domain, in which what lies beyond the file ascends.
  std::vector<FilteredArray> filtered_arrays(const FileDomain& domain) {
    std::vector<FilteredArray> arrays;
    for (const FileDomain::Array& array : domain.arrays()) {
      if (array.place.unit == 0) continue;
      const std::size_t dataset = layout_.chunk_at(array.place.offset).dataset;
      arrays.push_back({array.place.offset, layout_.grid(dataset), &pipeline(dataset)});
    }
    return arrays;
  }

  hdf5::FilterPipeline& pipeline(std::size_t dataset) {
    const ElementType type = pattern_.datasets[dataset].type;
    auto& made = pipelines_[{layout_.list_of(dataset), type}];
    if (!made) {
      made = std::make_unique<hdf5::FilterPipeline>(hdf5::native_type(type),
                                                    layout_.creation(dataset).get());
    }
    return *made;
  }

  const Comm& comm_;
  const Pattern& pattern_;
  Hdf5Options options_;
  Hdf5Layout layout_;
  hdf5::File file_;                      ///< on root; before datasets_, which are closed first
  std::vector<hdf5::Dataset> datasets_;  ///< on root
  std::map<std::pair<std::size_t, ElementType>, std::unique_ptr<hdf5::FilterPipeline>> pipelines_;
  std::unique_ptr<Hdf5ChunkStore> store_;
  std::unique_ptr<FilteredFlush> filters_;
  Json report_;
};

Hdf5Reason unmet_by_hdf5(const Pattern& pattern, const Settings& settings) {
  return beyond_hdf5(pattern, completed(file_options().read(settings)));
}

}  // namespace

MethodInfo hdf5_rearranged_method() {
  std::vector<OptionInfo> options = rearranged_options("hdf5");
  for (const OptionInfo& one : std::vector<OptionInfo>(file_options())) options.push_back(one);
  return {.name = "hdf5-rearranged",
          .summary = "data rearranged collectively, datasets by HDF5, large writes",
          .format = FileFormat::hdf5,
          .options = std::move(options),
          .supports = unmet_by_hdf5,
          .make = [](const MethodContext& context) -> std::unique_ptr<Method> {
            return std::make_unique<RearrangedMethod>(context, "hdf5",
                                                      std::make_unique<Hdf5Header>(context));
          },
          .compresses =
              [](const Settings& settings) { return file_options().read(settings).has_filters(); }};
}

}  // namespace slabmark
