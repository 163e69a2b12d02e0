#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "bench/method/raw/file_order.hpp"
#include "bench/method/shared/selection_cache.hpp"
#include "bench/method/zarr/layout.hpp"
#include "bench/method/zarr/stored_array.hpp"
#include "collective/exchange/chunk_order.hpp"
#include "core/base/error.hpp"
#include "core/parallel/agree.hpp"

namespace slabmark {

namespace {

/// Waits for the lock of a shard's file, which it makes where it is not there.
posix::File locked(const std::string& path) {
  using Lock = posix::File::Lock;
  posix::File file = posix::File::open_or_create(path);
  for (;;) {
    const Lock lock = file.try_lock(false);
    if (lock == Lock::taken) return file;
    if (lock == Lock::unsupported) {
      throw IoError(fmt::format(
          "The file system of '{}' has no locks; choose zarr-rearranged, which needs none.", path));
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

/// Each rank reads, changes and writes the shards that it has a part of. Ranks take turns at those
/// that they share.
class ZarrSlab : public Method {
 public:
  explicit ZarrSlab(const MethodContext& context)
      : Method(context), options_(zarr_options().read(context.settings)) {}

  void create(const std::string& path) override {
    path_ = path;
    if (context_.comm.is_root()) zarr::create_store(path);
  }

  void define() override {
    arrays_ = zarr_arrays(context_.pattern, options_);
    if (context_.comm.is_root()) {
      zarr::write_metadata(path_, arrays_, context_.pattern.attributes);
    }
    for (std::size_t d = 0; d < arrays_.size(); ++d) {
      const Dataset& dataset = context_.pattern.datasets[d];
      stored_.emplace_back(dataset, path_ + '/' + dataset.name, arrays_[d].array, buffers_);
    }
  }

  void open(const std::string& path) override {
    for (std::size_t d = 0; d < context_.pattern.datasets.size(); ++d) {
      const Dataset& dataset = context_.pattern.datasets[d];
      const std::string folder = path + '/' + dataset.name;
      const zarr::ArrayReader reader(folder);
      require_dataset(reader.array(), context_.pattern, d, folder);
      stored_.emplace_back(dataset, folder, reader.array(), buffers_);
    }
  }

  void post(std::uint64_t round, std::span<std::byte* const> buffers) override {
    const std::vector<Transfer> transfers = context_.pattern.transfers(round);
    for (std::size_t i = 0; i < transfers.size(); ++i) {
      const std::vector<Piece>& pieces = pieces_of(transfers[i]);
      const std::uint64_t shard_elements = stored_[transfers[i].dataset].shards().chunk_elements();
      for (std::size_t begin = 0; begin < pieces.size();) {
        const std::uint64_t shard = pieces[begin].file / shard_elements;
        std::size_t end = begin;
        while (end < pieces.size() && pieces[end].file / shard_elements == shard) ++end;
        move(transfers[i], shard, std::span(pieces).subspan(begin, end - begin), buffers[i]);
        begin = end;
      }
    }
    pieces_.next_round();
  }

  void sync() override {
    for (StoredArray& one : stored_) one.sync();
    if (context_.comm.is_root()) zarr::sync_metadata(path_, arrays_);
  }

  void close() override {
    std::uint64_t stored = 0;
    for (const StoredArray& one : stored_) stored += one.tally().stored_bytes;
    storage_bytes_ = context_.comm.sum(stored);
  }

  Json effective() const override {
    Json effective = Json::object();
    effective["calls"] = Json::object({{writing() ? "pwrite" : "pread", shards_}});
    if (writing()) effective["storage_bytes"] = storage_bytes_;
    return effective;
  }

 private:
  /// The pieces of a transfer on the line of the dataset's shards, each in one shard.
  const std::vector<Piece>& pieces_of(const Transfer& transfer) {
    const ChunkGrid& shards = stored_[transfer.dataset].shards();
    const bool is_empty = element_count(context_.pattern.datasets[transfer.dataset].extent()) == 0;
    return pieces_.get(transfer.file, transfer.buffer, transfer.dataset, [&] {
      if (is_empty) return std::vector<Piece>();
      std::vector<Piece> cut;
      for (const Piece& piece : in_chunk_order(file_pieces(transfer).pieces, shards)) {
        for_each_part(Run{piece.file, piece.length}, shards.chunk_elements(), [&](Run part) {
          cut.push_back({part.offset, piece.buffer + part.offset - piece.file, part.length});
        });
      }
      return cut;
    });
  }

  void move(const Transfer& transfer, std::uint64_t shard, std::span<const Piece> pieces,
            std::byte* buffer) {
    StoredArray& array = stored_[transfer.dataset];
    const Extent index = array.index_of(transfer.time, shard);
    const std::uint64_t begin = shard * array.shards().chunk_elements();
    const std::uint64_t size = array.element_bytes();
    memory_.resize(array.shard_bytes());
    ++shards_;
    if (!writing()) {
      array.read(index, memory_.data());
      for (const Piece& piece : pieces) {
        std::memcpy(buffer + piece.buffer * size, memory_.data() + (piece.file - begin) * size,
                    piece.length * size);
      }
      return;
    }
    RunList mine;
    for (const Piece& piece : pieces) {
      std::memcpy(memory_.data() + (piece.file - begin) * size, buffer + piece.buffer * size,
                  piece.length * size);
      mine.push_back({piece.file - begin, piece.length});
    }
    const posix::File file = locked(array.path_of(index));
    array.write(index, memory_.data(), complement(mine, array.shards().chunk_elements()),
                file.size() > 0);
  }

  const ZarrOptions options_;
  std::string path_;
  std::vector<zarr::NamedArray> arrays_;  ///< that are written
  const zarr::BuffersPtr buffers_ = std::make_shared<zarr::Buffers>();
  std::vector<StoredArray> stored_;
  SelectionCache<std::vector<Piece>> pieces_;
  std::vector<std::byte> memory_;  ///< of a shard
  std::uint64_t shards_ = 0;       ///< that this rank moved
  std::uint64_t storage_bytes_ = 0;
};

}  // namespace

MethodInfo zarr_slab_method() {
  return {.name = "zarr-slab",
          .summary = "each rank reads, changes and writes the shards that it has a part of",
          .format = FileFormat::zarr,
          .options = zarr_options(),
          .supports = unmet_by_zarr,
          .make = make_method<ZarrSlab>,
          .compresses = compresses_zarr};
}

}  // namespace slabmark
