#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "accel/hdf5_connector/canonical/chunk_file.hpp"
#include "accel/hdf5_connector/canonical/collective_writer.hpp"
#include "accel/hdf5_connector/log/data_file.hpp"
#include "storage/hdf5/placeholder.hpp"

namespace slabmark::slablog {

/// A dataset whose elements go past HDF5 into the space that HDF5 gave it.
struct CanonicalDataset : LogDataset {
  explicit CanonicalDataset(LogDataset described) : LogDataset(std::move(described)) {}

  void* under = nullptr;                 ///< the dataset below the connector
  std::optional<std::uint64_t> address;  ///< of its first byte; none before it is written first
  bool fresh = false;                    ///< see Posting
  bool never_filled = false;             ///< its fill value is undefined
  Extent chunk;                          ///< of one in chunks, else none
  ChunkGrid grid;                        ///< the same, of parts of elements
  hdf5::Handle creation;                 ///< of one with filters
  std::optional<hdf5::FilterPipeline> plain;  ///< of one in chunks without filters
  hdf5::FilterPipeline* pipeline = nullptr;   ///< of one in chunks, once it was needed
  std::optional<MisreadChunk> misread;        ///< which read() reads itself

  bool in_chunks() const { return !chunk.empty(); }
  bool has_filters() const { return creation.is_open(); }
  /// The rearranger knows elements of 1, 2, 4 and 8 bytes; others are several of these.
  std::uint64_t part_bytes() const;
  std::uint64_t parts() const { return element_bytes() / part_bytes(); }
  void set_grid();

  int users = 0;  ///< objects of the connector that stand for it
};

/// An open file in the canonical layout: an ordinary HDF5 file, all of whose structure is HDF5's.
/// What is flushed goes straight to its places, put together by a plan where several ranks have the
/// file open.
class CanonicalFile : public DataFile, private ChunkedDatasets {
 public:
  using Hints = std::map<std::string, std::string>;  ///< of MPI-IO

  /// `left_out`: see left_out_of_chunk_addresses(); `deferred`: null for this process alone.
  CanonicalFile(std::string path, Ranks ranks, const Config& config, Hints hints,
                std::uint64_t left_out, std::shared_ptr<hdf5::DeferredError> deferred);

  /// What is to be known of a dataset that was just opened below the connector.
  struct Opened {
    void* under;
    hid_t connector;
    std::uint64_t number;  ///< the same for all who open it, as long as it is there
    hid_t type, space, creation;
    bool created;
    bool owned;  ///< `under` may be kept, until close() of the file says otherwise
  };
  /// Null where the dataset stays HDF5's own.
  std::shared_ptr<LogDataset> take(const Opened& opened);
  /// One of those for whom take() returned the dataset does without it; `last`: nothing else of the
  /// file is open. Closes `under`, unless it is still needed: no rank may give a dataset up before
  /// the others, or what deleting it frees would be in use on some.
  herr_t close(LogDataset& dataset, void* under, hid_t list, bool last);
  /// The same where HDF5 itself closes what is below.
  void leave(LogDataset& dataset) { --known_.at(dataset.number())->users; }

  /// Collective: from now on as with visibility=strict, since the file is open a second time.
  void become_strict(const Location& file);

  bool writable() const override { return true; }
  bool shows_all() const override { return !has_pending(); }
  /// HDF5 may have no space for it yet, and then reads nothing at all, but read() does. Where
  /// several have the file open all get the same answer, since they may read together.
  bool may_be_unreadable(const LogDataset& dataset) const;
  /// Its filters leave out the chunks at the edge (H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS).
  bool has_plain_edges(const LogDataset& dataset) const;
  bool has_filters(const LogDataset& dataset) const {
    return known_.at(dataset.number())->has_filters();
  }
  const Extent& chunk_of(const LogDataset& dataset) const {
    return known_.at(dataset.number())->chunk;
  }
  /// HDF5 would read some of it wrong, read() does not.
  bool is_misread(const LogDataset& dataset) const {
    return known_.at(dataset.number())->misread.has_value();
  }
  void read(LogDataset& dataset, std::vector<ReadRun> reads) override;
  void flush(const Location& file) override;
  /// Puts what is pending into a file that this process alone has open. Throws IoError only where
  /// that fails for the dataset.
  void show(const LogDataset& dataset);
  void reshape(const Location& file, LogDataset& dataset, const Extent& extent) override;

  /// What stays of chunks with filters that a smaller extent cuts.
  struct Cut {
    Extent between;                      ///< as large as it may be without any chunk that is cut
    std::vector<Extent> starts, counts;  ///< boxes, which this rank has read
    std::vector<std::byte> elements;
  };
  /// Collective, when nothing is pending. HDF5 itself reads, fills and writes what is cut, with
  /// filters each rank for itself, so that one reads what another has just moved, and by the mask
  /// that it remembers. Where the file is open through MPI-IO the dataset must take the extent
  /// between first, which gives such chunks up, and then the new one; restore() writes them again.
  /// Nothing where HDF5 does it right.
  std::optional<Cut> cut(LogDataset& dataset, const Extent& extent);
  void restore(const Location& file, LogDataset& dataset, const Cut& cut);

  void prepare_close(const Location& file) override { flush(file); }
  void after_flush(bool well) override { check_written(well, "H5Fflush"); }
  bool is_open_below() const override { return false; }
  std::string abandon() override;
  void after_close(bool well) override;

 protected:
  std::vector<LogDataset*> datasets() const override;
  void make_room() override;

 private:
  std::vector<FilteredArray> arrays(const std::map<std::uint64_t, std::uint64_t>& offsets) override;
  ChunkStore& store() override { return *chunks_; }
  void check_written(bool well, const char* call) const;
  bool takes(hid_t space, hid_t creation) const;
  bool is_unreadable(const CanonicalDataset& dataset) const;
  CanonicalDataset& known(std::uint64_t number);
  hdf5::FilterPipeline* pipeline_of(CanonicalDataset& dataset);
  std::shared_ptr<CanonicalDataset> described(const Opened& opened) const;
  void release(bool only_without_pending);
  void show_whole(CanonicalDataset& dataset);
  void read_below(const CanonicalDataset& dataset, const std::vector<ReadRun>& reads);
  void read_by_hdf5(const CanonicalDataset& dataset, const std::vector<ReadRun>& reads) const;
  std::vector<std::byte> elements_of(const CanonicalDataset& dataset, const StoredChunk& chunk);
  void flush_together(const Comm& comm);
  void flush_alone(const LogDataset* only);
  void flush_alone(CanonicalDataset& dataset);
  void allocate(CanonicalDataset& dataset);
  /// `address`: of the elements, in memory.
  void write_by_hdf5(CanonicalDataset& dataset, hid_t memory, hid_t file, std::uint64_t address);
  Posting posting_of(CanonicalDataset& dataset, const std::byte* spilled) const;
  void settle_settings(const Comm& comm);

  Hints hints_;
  std::uint64_t left_out_;
  std::shared_ptr<hdf5::DeferredError> deferred_;
  hid_t connector_ = H5I_INVALID_HID;
  std::map<std::uint64_t, std::shared_ptr<CanonicalDataset>> known_;  ///< by number
  bool abandoned_ = false;

  std::shared_ptr<CollectiveWriter> writer_;
  std::unique_ptr<ChunkFile> chunks_;
  std::map<std::string, hdf5::FilterPipeline> pipelines_;  ///< by type and creation list
  Location file_;                                          ///< during a flush
  RearrangerSettings settings_;
  std::uint64_t alignment_ = 0;  ///< 0: not settled yet
};

}  // namespace slabmark::slablog
