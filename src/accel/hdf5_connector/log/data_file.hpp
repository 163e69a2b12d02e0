#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "accel/hdf5_connector/config.hpp"
#include "accel/hdf5_connector/log/log_dataset.hpp"
#include "accel/hdf5_connector/log/reader.hpp"
#include "accel/hdf5_connector/ranks.hpp"
#include "accel/hdf5_connector/selection.hpp"
#include "accel/hdf5_connector/under.hpp"
#include "collective/exchange/last_writer.hpp"

namespace slabmark::slablog {

/// The elements of one open file, which go past HDF5: what this rank wrote stays in memory, and
/// beyond a bound in a spill file, until a flush, which all ranks make, puts it where the file's
/// layout says. Between two flushes no rank needs another one, but in reads that are collective.
class DataFile {
 public:
  virtual ~DataFile() = default;
  DataFile(const DataFile&) = delete;
  DataFile& operator=(const DataFile&) = delete;

  const std::string& path() const { return path_; }
  const Ranks& ranks() const { return ranks_; }  ///< all who have it open
  bool is_root() const { return ranks_.is_root(); }
  bool is_parallel() const { return ranks_.comm() != nullptr; }
  bool has_other_ranks() const { return is_parallel() && ranks_.comm()->size() > 1; }
  virtual bool writable() const = 0;
  /// True if what HDF5 reads is all that this process knows of.
  virtual bool shows_all() const = 0;
  SelectionCache& selections() { return selections_; }
  /// True if this process has something that is not flushed.
  bool has_pending() const;
  /// True if others see what is written through it: other ranks, or who has it open a second time.
  bool is_shared() const { return has_other_ranks() || (is_parallel() && is_strict()); }
  bool is_strict() const { return config_.visibility == Visibility::strict; }
  /// True if `ranks` are those who have it open.
  bool is_open_by(const Ranks& ranks) const { return ranks_.are_as(ranks); }

  /// To be called for each call of the program that writes, before anything of it can fail, since
  /// all ranks count the `collective` ones. Writes of the same elements by several ranks are
  /// ordered by that count, and between two such calls by time.
  void begin_write(bool collective);
  /// The number of that call for what is pending.
  std::uint32_t call();

  /// Collective.
  bool on_any_rank(bool value) const { return ranks_.any(value); }
  /// A dataset, of whatever kind, was created at `path`.
  void note_creation(std::string path);

  /// To be called after something was written to a dataset, which held so many bytes before: makes
  /// room where the buffer is full.
  void written(const LogDataset& dataset, std::uint64_t held_before);
  /// Fills all `reads`: from what is pending, what was flushed, and the fill value.
  virtual void read(LogDataset& dataset, std::vector<ReadRun> reads) = 0;
  /// Collective: puts what is pending into the file. `file`: the file below the connector.
  virtual void flush(const Location& file) = 0;
  /// Collective: the dataset has another extent now.
  virtual void reshape(const Location& file, LogDataset& dataset, const Extent& extent) = 0;

  /// Collective, when the last handle is about to be closed.
  virtual void prepare_close(const Location& file) = 0;
  /// Collective, when HDF5 has flushed it, or has failed to: what is in it is safe from now on.
  virtual void after_flush(bool well) = 0;
  /// True if HDF5 has it open for writing, and after_close() must wait for its end.
  virtual bool is_open_below() const = 0;
  /// Gives up what is pending. Returns a clause that says so, for a warning.
  virtual std::string abandon() = 0;
  /// Collective, when HDF5 has closed it, or has failed to.
  virtual void after_close(bool well) = 0;

 protected:
  /// `ranks`: all who have the file open.
  DataFile(std::string path, Ranks ranks, const Config& config, bool writable);

  /// The datasets that may have something pending.
  virtual std::vector<LogDataset*> datasets() const = 0;
  /// The buffer is full.
  virtual void make_room() { spill(); }
  bool is_full() const { return held_bytes_ > most_held_; }
  void spill();
  void drop_pending();
  void drop_pending(LogDataset& dataset);
  /// Collective, before anything else of a flush: throws on all ranks where they have created other
  /// datasets, or in another order, since their numbers do not mean the same then.
  void check_creations();
  /// Throws on all ranks where `check` throws on one or HDF5's `call` has failed there. HDF5 may
  /// have failed on this rank while the others wait for it, inside HDF5.
  void check_all(bool well, const char* call, const std::function<void()>& check) const;

  std::string path_;
  Ranks ranks_;
  Config config_;
  ElementFiles files_;
  std::uint64_t spilled_bytes_ = 0;
  std::vector<WriteOrder> calls_;  ///< by the number that call() gives; none where nobody else is

 private:
  std::uint64_t collective_writes_ = 0;
  std::vector<std::string> created_;  ///< since all ranks last had the same ones
  WriteOrder order_;                  ///< of the call that was begun last
  bool order_is_kept_ = false;        ///< as the last of calls_

  SelectionCache selections_;
  std::uint64_t held_bytes_ = 0;  ///< of all datasets
  std::uint64_t most_held_;       ///< the buffer; more where that much cannot be spilled
};

}  // namespace slabmark::slablog
