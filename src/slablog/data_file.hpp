#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "slablog/config.hpp"
#include "slablog/log_dataset.hpp"
#include "slablog/ranks.hpp"
#include "slablog/reader.hpp"
#include "slablog/selection.hpp"
#include "slablog/under.hpp"

namespace slabmark::slablog {

/// The elements of one open file, which go past HDF5: what this rank wrote stays in memory, and
/// beyond a bound in a spill file, until a flush, which all ranks make, puts it where the file's
/// layout says. Between two flushes no rank needs another one.
class DataFile {
 public:
  virtual ~DataFile() = default;
  DataFile(const DataFile&) = delete;
  DataFile& operator=(const DataFile&) = delete;

  const std::string& path() const { return path_; }
  bool is_root() const { return ranks_.is_root(); }
  bool is_parallel() const { return ranks_.comm() != nullptr; }
  bool has_other_ranks() const { return is_parallel() && ranks_.comm()->size() > 1; }
  virtual bool writable() const = 0;
  /// Whether what HDF5 reads is all that this process knows of.
  virtual bool shows_all() const = 0;
  SelectionCache& selections() { return selections_; }

  /// To be called after `bytes` were added to a dataset: spills where the buffer is full.
  void added(std::uint64_t bytes);
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
  /// Whether HDF5 has it open for writing, and after_close() must wait for its end.
  virtual bool is_open_below() const = 0;
  /// What is pending is lost. Returns what is to be said of the file.
  virtual std::string abandon() = 0;
  /// Collective, when HDF5 has closed it, or has failed to.
  virtual void after_close(bool well) = 0;

 protected:
  /// `ranks`: all who have the file open.
  DataFile(std::string path, Ranks ranks, const Config& config, bool writable);

  /// Those that may have something pending.
  virtual std::vector<LogDataset*> datasets() const = 0;
  bool has_pending() const;
  void drop_pending();
  void drop_pending(LogDataset& dataset);
  /// Throws on all ranks where `check` throws on one or HDF5's `call` has failed there. HDF5 may
  /// have failed on this rank while the others wait for it, inside HDF5.
  void check_all(bool well, const char* call, const std::function<void()>& check) const;

  std::string path_;
  Ranks ranks_;
  Config config_;
  ElementFiles files_;
  std::uint64_t spilled_bytes_ = 0;

 private:
  void spill();

  SelectionCache selections_;
  std::uint64_t pending_bytes_ = 0;
};

}  // namespace slabmark::slablog
