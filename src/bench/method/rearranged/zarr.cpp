#include <algorithm>
#include <map>
#include <memory>
#include <sstream>
#include <utility>

#include "bench/method/rearranged/method.hpp"
#include "bench/method/zarr/layout.hpp"
#include "bench/method/zarr/stored_array.hpp"

namespace slabmark {

namespace {

/// A store of Zarr. Each shard is a unit of the exchange, so one aggregator has all of it and
/// writes its file: ranks share no file, and lock none.
class ZarrHeader : public RearrangedHeader {
 public:
  explicit ZarrHeader(const MethodContext& context)
      : comm_(context.comm),
        pattern_(context.pattern),
        options_(zarr_options().read(context.settings)),
        writing_(context.direction == Direction::write) {}

  void create(const std::string& path, const mpiio::Hints&) override {
    zarr::create_store(path);
    path_ = path;
  }

  std::vector<std::uint64_t> define() override {
    zarr::write_metadata(path_, zarr_arrays(pattern_, options_), pattern_.attributes);
    return {};
  }

  // Texts have no zero byte, which ends each of them on its way to the others.
  std::vector<std::uint64_t> read(const std::string& path) override {
    path_ = path;
    for (std::size_t d = 0; d < pattern_.datasets.size(); ++d) {
      const std::string folder = folder_of(pattern_.datasets[d]);
      const std::string text = zarr::read_text(folder + "/zarr.json");
      require_dataset(zarr::parse_array(text, folder + "/zarr.json"), pattern_, d, folder);
      texts_.append(text).push_back('\0');
    }
    return {};
  }

  bool has_data_file() const override { return false; }

  void learn(std::span<const std::uint64_t>, collective::File&) override {
    path_ = comm_.broadcast(path_);
    std::vector<zarr::ArrayMetadata> arrays;
    if (writing_) {
      arrays_ = zarr_arrays(pattern_, options_);
      for (const zarr::NamedArray& one : arrays_) arrays.push_back(one.array);
    } else {
      std::istringstream texts(comm_.broadcast(texts_));
      std::string text;
      while (std::getline(texts, text, '\0')) arrays.push_back(zarr::parse_array(text, path_));
    }
    for (std::size_t d = 0; d < arrays.size(); ++d) add(pattern_.datasets[d], arrays[d]);
  }

  std::uint64_t offset(std::span<const std::uint64_t>, std::size_t dataset,
                       std::uint64_t time) const override {
    const Stored& one = stored_[dataset];
    return one.begin + (pattern_.datasets[dataset].has_time ? time : 0) * one.line_bytes();
  }
  const ChunkGrid* grid(std::size_t dataset) const override {
    return &stored_[dataset].array.shards();
  }
  bool has_filters(std::size_t) const override { return true; }

  void adjust(RearrangerSettings& settings) const override {
    bool has_codecs = false;
    for (const Stored& one : stored_) {
      settings.unit = std::max(settings.unit, one.array.shard_bytes());
      has_codecs = has_codecs || one.array.has_codecs();
    }
    // All cores compress, not those of a few aggregators.
    if (has_codecs && settings.aggregators == 0) {
      settings.aggregators = static_cast<std::uint64_t>(comm_.size());
    }
  }

  collective::File::Mover mover(bool writing) override {
    return [this, writing](Rearranger& rearranger, const Rearranger::Flush& flush,
                           const Rearranger::FileAccess& access) {
      if (!writing) {
        return rearranger.read(
            flush, access, [this](std::uint64_t place, std::byte* memory, std::span<const Run>) {
              const Shard shard = shard_at(place);
              shard.array.read(shard.index, memory);
            });
      }
      std::map<std::uint64_t, bool> fresh;
      const auto arrays = flush.domain.arrays();
      for (std::size_t i = 0; i < arrays.size(); ++i) {
        fresh[arrays[i].place.offset] = flush.fresh[i];
      }
      return rearranger.write(
          flush, access, [&](std::uint64_t place, std::byte* memory, std::span<const Run> missing) {
            const bool is_fresh = std::prev(fresh.upper_bound(place))->second;
            const Shard shard = shard_at(place);
            shard.array.write(shard.index, memory, missing, !is_fresh);
          });
    };
  }

  void sync() override {
    for (Stored& one : stored_) one.array.sync();
    if (comm_.is_root()) zarr::sync_metadata(path_, arrays_);
  }

  void close() override {
    std::uint64_t stored = 0;
    for (const Stored& one : stored_) stored += one.array.tally().stored_bytes;
    storage_bytes_ = comm_.sum(stored);
  }

  void report(Json& effective) const override {
    effective["calls"] = Json::object({{writing_ ? "pwrite" : "pread", shards_}});
    if (writing_) effective["storage_bytes"] = storage_bytes_;
  }

 private:
  /// A dataset in the store.
  struct Stored {
    StoredArray array;
    std::uint64_t begin;  ///< of its places beyond a file

    std::uint64_t line_bytes() const { return array.shards().chunks() * array.shard_bytes(); }
  };

  struct Shard {
    StoredArray& array;
    Extent index;
  };

  std::string folder_of(const Dataset& dataset) const { return path_ + '/' + dataset.name; }

  void add(const Dataset& dataset, const zarr::ArrayMetadata& array) {
    stored_.push_back({{dataset, folder_of(dataset), array, buffers_}, end_});
    end_ += stored_.back().array.steps() * stored_.back().line_bytes();
  }

  // Datasets without elements begin where the next one does, so the last that begins there counts.
  Shard shard_at(std::uint64_t place) {
    const auto after = std::upper_bound(
        stored_.begin(), stored_.end(), place,
        [](std::uint64_t wanted, const Stored& one) { return wanted < one.begin; });
    Stored& one = *std::prev(after);
    const std::uint64_t number = (place - one.begin) / one.array.shard_bytes();
    const std::uint64_t shards = one.array.shards().chunks();
    ++shards_;
    return {one.array, one.array.index_of(number / shards, number % shards)};
  }

  const Comm& comm_;
  const Pattern& pattern_;
  const ZarrOptions options_;
  const bool writing_;
  std::string path_;
  std::string texts_;                     ///< on root, of the arrays' metadata
  std::vector<zarr::NamedArray> arrays_;  ///< that are written
  const zarr::BuffersPtr buffers_ = std::make_shared<zarr::Buffers>();
  std::vector<Stored> stored_;
  std::uint64_t end_ = beyond_file;
  std::uint64_t shards_ = 0;  ///< that this rank moved
  std::uint64_t storage_bytes_ = 0;
};

}  // namespace

MethodInfo zarr_rearranged_method() {
  std::vector<OptionInfo> options = rearranged_options("zarr");
  for (const OptionInfo& one : std::vector<OptionInfo>(zarr_options())) options.push_back(one);
  return {.name = "zarr-rearranged",
          .summary = "data rearranged collectively, each shard a file that one rank writes",
          .format = FileFormat::zarr,
          .options = std::move(options),
          .supports = unmet_by_zarr,
          .make = [](const MethodContext& context) -> std::unique_ptr<Method> {
            return std::make_unique<RearrangedMethod>(context, "zarr",
                                                      std::make_unique<ZarrHeader>(context));
          },
          .compresses = compresses_zarr};
}

}  // namespace slabmark
