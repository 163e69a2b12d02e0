#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "accel/slices/appended_file.hpp"
#include "accel/slices/file_frame.hpp"
#include "accel/slices/gatherer.hpp"
#include "accel/slices/output.hpp"
#include "accel/slices/plan.hpp"
#include "accel/slices/slice_file.hpp"
#include "collective/exchange/row_exchange.hpp"
#include "core/parallel/agree.hpp"
#include "core/parallel/comm.hpp"
#include "core/parallel/worker_thread.hpp"
#include "storage/posix/file.hpp"

namespace slabmark::slice {

/// One cut on its way to its files.
class CutOutput {
 public:
  /// `index` is the cut's among those of the declaration: files are kept by different ranks.
  CutOutput(const Comm& comm, const Declaration& declaration, std::size_t index);
  CutOutput(const CutOutput&) = delete;
  CutOutput& operator=(const CutOutput&) = delete;

  bool writes() const { return !plan_.stretches.empty(); }
  bool due(std::uint64_t step) const { return step % every_ == 0; }

  /// On the file's keeper: refuses or removes what is in the way. On others nothing.
  void clear_the_way(bool overwrite) const;
  /// Makes the file of appended outputs. Only the keeper does anything.
  void create();
  /// Removes what create() made.
  void remove_created() noexcept;

  /// See Output. False if the cut has no such field.
  bool set_block(const std::string& field, const void* data) {
    return gatherer_.set_block(field, data);
  }

  /// Collective. Waits for room and begins to gather an output. `thread` may be null. Failures go
  /// to `attempt`, also those of finish(), which is to be called next, with the same ones.
  void begin(WorkerThread* thread, Attempt& attempt, Tally& tally);
  /// Collective. Sends and writes what begin() gathered, or hands it to the thread.
  void finish(std::uint64_t step, double time, WorkerThread* thread, Attempt& attempt,
              Tally& tally);

  std::uint64_t count() const { return count_; }
  /// Outputs of which this rank has done all its part, before the first that failed.
  std::uint64_t whole() const { return writes() ? std::min(whole_.load(), gathered_) : gathered_; }

  /// The file says that it has all outputs so far. Only the keeper does anything.
  void note_count();
  /// Completes the files with `outputs` outputs. Nothing is begun after it.
  void close(std::uint64_t outputs);

  const std::vector<std::string>& files() const { return files_; }

 private:
  /// The memory in which this rank puts one output together, until it is written.
  struct Slot {
    Buffer buffer;
    std::uint64_t work = 0;  ///< of the thread, that writes it
  };

  Slot* slot() { return writes() ? &slots_[count_ % slots_.size()] : nullptr; }
  void grow(const WorkerThread* thread, Attempt& attempt);
  void hand_over(std::uint64_t step, double time, WorkerThread* thread, Tally& tally);
  bool keeps() const { return appended_.is_keeper(); }
  bool appends() const { return mode_ == FileMode::append; }
  std::string path_of(std::uint64_t step) const { return file_of(mode_, stem_, step); }
  std::vector<Piece> pieces_of_output() const;
  void write_pieces(const std::string& path, const std::byte* buffer,
                    const std::vector<Piece>& pieces);

  FileMode mode_;
  std::string stem_;
  std::uint64_t every_;
  Description description_;
  Plan plan_;
  std::optional<RowExchange> exchange_;  ///< none after close(): an Output may live longer than MPI
  Gatherer gatherer_;

  FileFrame frame_;        ///< where each output has a file of its own
  AppendedFile appended_;  ///< where outputs are appended
  posix::File file_;       ///< the same, on writers
  std::vector<std::string> files_;

  std::vector<Slot> slots_;
  std::uint64_t count_ = 0;
  std::uint64_t gathered_ = 0;  ///< outputs that all before them were gathered, too
  std::atomic<std::uint64_t> whole_ = 0;
};

}  // namespace slabmark::slice
