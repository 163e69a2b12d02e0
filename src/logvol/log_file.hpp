#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <mpi.h>

#include "logvol/config.hpp"
#include "logvol/journal/journal.hpp"
#include "logvol/log_dataset.hpp"
#include "logvol/log_share.hpp"
#include "logvol/under.hpp"
#include "parallel/comm.hpp"
#include "storage/mpiio/file.hpp"
#include "storage/posix/file.hpp"

namespace slabmark::logvol {

/// The log of one open file. Metadata goes through HDF5 below the connector; the elements go to and
/// come from the same file by pwrite and pread, at the addresses that HDF5 gave the segments. So
/// between two flushes no rank needs another one.
class LogFile {
 public:
  /// `comm`: all who have the file open, or null for a file of this process alone. `journal`: which
  /// HDF5's driver keeps for the file; null if it is only read.
  LogFile(std::string path, std::unique_ptr<Comm> comm, const Config& config,
          std::shared_ptr<Journal> journal);

  const std::string& path() const { return path_; }
  bool writable() const { return journal_ != nullptr; }
  const Config& config() const { return config_; }

  /// Collective: makes the log of a new file, which has its group already, or reads that of an old
  /// one.
  void create(const Location& file);
  void load(const Location& file);
  LogState state() const { return state_; }  ///< as it was found
  bool is_root() const { return rank() == 0; }

  /// Collective. The number for a dataset that is created next.
  std::uint64_t new_number(const Location& file);
  /// The dataset of that number, if this process knows it.
  std::shared_ptr<LogDataset> known(std::uint64_t number) const;
  /// Makes a dataset known. It may be the first rank to do so.
  std::shared_ptr<LogDataset> add(const Location& file, std::shared_ptr<LogDataset> dataset);

  /// Gives back the memory for a dataset that has nothing pending.
  void forget(std::uint64_t number) { datasets_.erase(number); }

  /// To be called after `bytes` were added to a dataset: spills where the buffer is full.
  void added(std::uint64_t bytes);
  /// Fills all wishes: from what is pending, what was flushed, and the fill value.
  void read(LogDataset& dataset, std::vector<Wish> wishes);

  /// Collective: puts what is pending into the file.
  void flush(const Location& file);
  /// Collective: the dataset has another extent now.
  void reshape(const Location& file, LogDataset& dataset, const Extent& extent);

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

  std::uint64_t flushes() const { return indices_.size(); }
  std::uint64_t index_bytes() const;
  std::uint64_t hyperslabs(std::uint64_t dataset) const;  ///< flushed, all ranks
  /// Reads entries of the index that are new to `dataset`.
  void update(LogDataset& dataset);
  /// What this rank reads of the log where all ranks bring these datasets together.
  LogShare share(std::span<LogDataset* const> datasets);
  /// Collective: what of a dataset is in this rank's share.
  LogDataset own_part(const LogShare& share, const LogDataset& dataset) const;
  /// Collective: writes the elements of a dataset in their order, from byte `address` of `target`
  /// on. `part` holds what of its log this rank reads.
  void assemble(LogDataset& part, posix::File& target, std::uint64_t address);
  /// Collective: makes the view of a dataset one contiguous array. `part`: as in assemble().
  void materialise(const Location& file, LogDataset& part);

 private:
  class LineWriter;
  class Gathering;
  struct Entry {
    std::uint64_t flush;
    IndexEntry entry;
  };

  void fetch(const LogRuns& runs, std::span<std::byte* const> targets, const LogDataset& dataset);
  bool paint(LogDataset& dataset, const Wish& wish);
  void spill();
  void parse_indices();
  hdf5::Handle type_of(std::uint64_t number);
  void write_index(const Location& file, const std::vector<std::byte>& index, std::string& failure);
  void write_pending(LogDataset& dataset, std::uint64_t address, std::uint64_t elements);
  void write_raw(std::uint64_t address, const std::byte* data, std::uint64_t bytes);
  void join_writes();
  void mark_open(const Location& file);
  void start_journal(const Location& file);
  void check_all(bool well, const char* call) const;
  void commit(std::uint64_t end);
  std::vector<std::uint64_t> sum(std::vector<std::uint64_t> values) const;
  std::vector<std::uint64_t> sum_before(const std::vector<std::uint64_t>& values) const;
  int ranks() const { return comm_ ? comm_->size() : 1; }
  int rank() const { return comm_ ? comm_->rank() : 0; }
  bool any(bool value) const;
  void agreed(const std::function<void()>& stage) const;
  bool any_at_leisure(bool value) const;
  void undo_flush(const Location& file, const std::vector<std::uint64_t>& total);

  std::string path_;
  std::unique_ptr<Comm> comm_;
  Config config_;
  std::shared_ptr<Journal> journal_;
  posix::File raw_;
  mpiio::File together_;  ///< the same, where flushes write collectively
  posix::File spilled_;
  std::uint64_t spilled_bytes_ = 0;
  LogState state_ = LogState::closed;
  bool changed_ = false;  ///< in this session
  bool abandoned_ = false;

  std::uint64_t dataset_count_ = 0;
  std::map<std::uint64_t, std::shared_ptr<LogDataset>> datasets_;
  std::uint64_t pending_bytes_ = 0;
  std::vector<std::byte> cuts_;  ///< index entries for the next flush
  std::vector<Line> indices_;
  std::vector<std::unique_ptr<std::byte[]>> parsed_;     ///< as many of them as were read
  std::map<std::uint64_t, std::vector<Entry>> waiting_;  ///< by dataset: parsed, not loaded
  std::map<std::uint64_t, std::uint64_t> hyperslabs_;
};

}  // namespace slabmark::logvol
