#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "slablog/config.hpp"
#include "slablog/flush.hpp"
#include "slablog/index_store.hpp"
#include "slablog/log_share.hpp"
#include "slablog/ranks.hpp"
#include "slablog/reader.hpp"
#include "slablog/under.hpp"

namespace slabmark::slablog {

/// The log of one open file. Metadata goes through HDF5 below the connector; the elements go to and
/// come from the same file by pwrite and pread, at the addresses that HDF5 gave the segments. So
/// between two flushes no rank needs another one.
class LogFile {
 public:
  /// `ranks`: all who have the file open. `journal`: which HDF5's driver keeps for the file; null
  /// if it is only read.
  LogFile(std::string path, Ranks ranks, const Config& config, std::shared_ptr<Journal> journal);
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;

  const std::string& path() const { return path_; }
  bool writable() const { return journal_ != nullptr; }
  bool is_root() const { return ranks_.is_root(); }
  bool is_parallel() const { return ranks_.comm() != nullptr; }
  LogState state() const { return state_; }  ///< as it was found
  /// Whether the views show all that this process knows of.
  bool shows_all() const;
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

  /// To be called after `bytes` were added to a dataset: spills where the buffer is full.
  void added(std::uint64_t bytes);
  /// Fills all `reads`: from what is pending, what was flushed, and the fill value.
  void read(LogDataset& dataset, std::vector<ReadRun> reads);
  /// Collective: puts what is pending into the file.
  void flush(const Location& file);
  /// Collective: the dataset has another extent now.
  void reshape(const Location& file, LogDataset& dataset, const Extent& extent);

  /// What this rank reads of the log where all ranks bring these datasets together.
  LogShare share(std::span<LogDataset* const> datasets);
  /// Collective: makes the view of a dataset of the share one contiguous array.
  void materialise(const Location& file, LogShare& share, const LogDataset& dataset);

  /// Collective, when the last handle is about to be closed.
  void prepare_close(const Location& file);
  /// Collective, when HDF5 has flushed it, or has failed to: what is in it is safe from now on.
  void after_flush(bool well);
  /// Whether HDF5 has it open for writing.
  bool is_open_below() const;
  /// What is pending is lost, and the journal stays for the next writer, or slablog-repair.
  void abandon() { abandoned_ = true; }
  /// Collective, when HDF5 has closed it, or has failed to: writes the views.
  void after_close(bool well);

 private:
  void spill();
  std::int64_t attribute(const Location& file, const char* name) const;
  void set_state(const Location& file, LogState state);
  void mark_open(const Location& file);
  void start_journal(const Location& file);
  void check_all(bool well, const char* call) const;
  void commit(std::uint64_t end);

  std::string path_;
  Ranks ranks_;
  Config config_;
  std::shared_ptr<Journal> journal_;
  ElementFiles files_;
  IndexStore index_;
  LogWriter writer_;
  std::uint64_t spilled_bytes_ = 0;
  LogState state_ = LogState::closed;
  std::int64_t version_ = 0;  ///< of the log, as it was found
  bool changed_ = false;      ///< in this session
  bool abandoned_ = false;

  std::uint64_t dataset_count_ = 0;
  Datasets datasets_;
  std::uint64_t pending_bytes_ = 0;
  std::vector<std::byte> cuts_;  ///< index entries for the next flush
};

}  // namespace slabmark::slablog
