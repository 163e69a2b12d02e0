#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "accel/hdf5_connector/canonical/collective_writer.hpp"
#include "accel/hdf5_connector/canonical/open_datasets.hpp"
#include "accel/hdf5_connector/log/data_file.hpp"
#include "storage/hdf5/placeholder.hpp"

namespace slabmark::slablog {

/// An open file in the canonical layout: an ordinary HDF5 file, all of whose structure is HDF5's. A
/// flush writes elements straight to their places, by the collective engine where several ranks
/// have the file open.
class CanonicalFile : public DataFile {
 public:
  /// `left_out`: see left_out_of_chunk_addresses(); `deferred`: null for this process alone,
  /// or for readers.
  CanonicalFile(std::string path, Ranks ranks, const Config& config, collective::Settings settings,
                std::uint64_t left_out, std::shared_ptr<hdf5::DeferredError> deferred,
                bool writable);

  /// Null where the dataset stays HDF5's own.
  std::shared_ptr<LogDataset> take(const OpenedDataset& opened) {
    return open_.take(opened, !is_strict());
  }
  /// One of those for whom take() returned the dataset does without it; `last`: nothing else of the
  /// file is open. Closes `under`, unless it is still needed.
  herr_t close(LogDataset& dataset, void* under, hid_t list, bool last);
  /// The same where HDF5 itself closes what is below.
  void leave(LogDataset& dataset) { --as_canonical(dataset).users; }

  /// Collective: from now on as with visibility=strict, since the file is open a second time.
  void become_strict(const Location& file);

  bool writable() const override { return writable_; }
  bool shows_all() const override { return !has_pending(); }
  /// HDF5 may have no space for it yet, and then reads nothing at all, but read() does. Where
  /// several have the file open all get the same answer, since they may read together.
  bool may_be_unreadable(const LogDataset& dataset) const;
  void read(LogDataset& dataset, std::vector<ReadRun> reads) override;
  /// Collective, when nothing is pending on any rank: whether all ranks read the same dataset, one
  /// of them in many pieces, and all of them `can` read it together.
  bool reads_together(const LogDataset& dataset, const Elements& elements, bool can) const;
  /// Collective, once for each such read: runs that ascend, or null for nothing, go to `memory` one
  /// after another.
  void read_together(LogDataset& dataset, RunsPtr runs, std::byte* memory);
  void flush(const Location& file) override;
  /// Puts what is pending into a file that this process alone has open. Throws IoError only where
  /// that fails for the dataset.
  void show(const LogDataset& dataset);
  void reshape(const Location& file, LogDataset& dataset, const Extent& extent) override;

  void prepare_close(const Location& file) override { flush(file); }
  void after_flush(bool well) override {
    if (writable_) check_written(well, "H5Fflush");
  }
  bool is_open_below() const override { return false; }
  std::string abandon() override;
  void after_close(bool well) override;

 protected:
  std::vector<LogDataset*> datasets() const override;
  void make_room() override;

 private:
  void check_written(bool well, const char* call) const;
  void show_whole(CanonicalDataset& dataset);
  void flush_together(const Location& file);
  void flush_alone(const LogDataset* only);
  void flush_alone(CanonicalDataset& dataset);

  std::shared_ptr<hdf5::DeferredError> deferred_;
  OpenDatasets open_;
  std::unique_ptr<CollectiveWriter> writer_;  ///< null for this process alone
  bool writable_;
  bool abandoned_ = false;
};

}  // namespace slabmark::slablog
