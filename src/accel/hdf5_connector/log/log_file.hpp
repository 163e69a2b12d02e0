#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "accel/hdf5_connector/log/data_file.hpp"
#include "accel/hdf5_connector/log/flush.hpp"
#include "accel/hdf5_connector/log/index_store.hpp"
#include "accel/hdf5_connector/log/log_share.hpp"

namespace slabmark::slablog {

/// The log of one open file. Metadata goes through HDF5 below the connector; the elements go to and
/// come from the same file by pwrite and pread, at the addresses that HDF5 gave the segments.
class LogFile : public DataFile {
 public:
  /// `journal`: which HDF5's driver keeps for the file; null if it is only read.
  LogFile(std::string path, Ranks ranks, const Config& config, std::shared_ptr<Journal> journal);

  bool writable() const override { return journal_ != nullptr; }
  LogState state() const { return state_; }  ///< as it was found
  bool shows_all() const override;
  const IndexStore& index() const { return index_; }

  /// Collective: makes the log of a new file, which has its group already, or reads that of an old
  /// one.
  void create(const Location& file);
  void load(const Location& file);

  /// Collective. The number for a dataset that is created next.
  std::uint64_t new_number(const Location& file);
  /// The dataset of that number, if this process knows it.
  std::shared_ptr<LogDataset> known(std::uint64_t number) const;
  /// Makes a dataset known. It may be the first rank to do so.
  std::shared_ptr<LogDataset> add(const Location& file, std::shared_ptr<LogDataset> dataset);
  /// Gives back the memory for a dataset that has nothing pending.
  void forget(std::uint64_t number) { datasets_.erase(number); }
  /// Reads entries of the index that are new to `dataset`.
  void update(LogDataset& dataset) { index_.update(dataset); }

  void read(LogDataset& dataset, std::vector<ReadRun> reads) override;
  void flush(const Location& file) override;
  void reshape(const Location& file, LogDataset& dataset, const Extent& extent) override;

  /// The part of the log that this rank reads when all ranks bring these datasets together.
  LogShare share(std::span<LogDataset* const> datasets);
  /// Collective: makes the view of a dataset of the share one contiguous array.
  void materialise(const Location& file, LogShare& share, const LogDataset& dataset);

  void prepare_close(const Location& file) override;
  void after_flush(bool well) override;
  bool is_open_below() const override;
  /// The journal stays for the next writer, or slabmark log repair.
  std::string abandon() override;
  /// Writes the views.
  void after_close(bool well) override;

 protected:
  std::vector<LogDataset*> datasets() const override;

 private:
  std::int64_t attribute(const Location& file, const char* name) const;
  void set_state(const Location& file, LogState state);
  void mark_open(const Location& file);
  void start_journal(const Location& file);
  void commit(std::uint64_t end);
  void leave_to_last_writers();

  std::shared_ptr<Journal> journal_;
  IndexStore index_;
  LogWriter writer_;
  LogState state_ = LogState::closed;
  std::int64_t version_ = 0;  ///< of the log, as it was found
  bool changed_ = false;      ///< in this session
  bool abandoned_ = false;

  std::uint64_t dataset_count_ = 0;
  Datasets datasets_;
  std::vector<std::byte> cuts_;  ///< index entries for the next flush
};

}  // namespace slabmark::slablog
