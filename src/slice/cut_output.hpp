#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "parallel/comm.hpp"
#include "slice/attempt.hpp"
#include "slice/exchange.hpp"
#include "slice/output.hpp"
#include "slice/plan.hpp"
#include "slice/slice_file.hpp"
#include "slice/writer_thread.hpp"
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

  /// Collective. `thread` may be null. Failures go to `attempt`.
  void write(std::uint64_t step, double time, WriterThread* thread, Attempt& attempt, Tally& tally);

  std::uint64_t count() const { return count_; }
  /// Outputs that this rank has written, all its parts, before the first that failed.
  std::uint64_t whole() const { return writes() ? whole_.load() : count_; }

  /// The file says that it has all outputs so far. Only the keeper does anything.
  void note_count();
  /// Completes the files with `outputs` outputs. Only the keeper does anything.
  void close(std::uint64_t outputs);

  const std::vector<std::string>& files() const { return files_; }

 private:
  /// What one output of this rank is put together in, until it is written.
  struct Slot {
    std::vector<std::byte> buffer;
    std::uint64_t work = 0;  ///< of the thread, that writes it
  };
  /// Bytes of a slot's buffer and their place in the file.
  struct Piece {
    std::uint64_t file = 0;
    std::uint64_t buffer = 0;
    std::uint64_t bytes = 0;
  };

  bool keeps() const { return comm_.rank() == plan_.writers.front(); }
  bool appends() const { return mode_ == FileMode::append; }
  std::string path_of(std::uint64_t step) const;
  void take_image(const Description& description);
  void make_room();
  void grow(Attempt& attempt);
  std::vector<Piece> pieces_of_output() const;
  void write_pieces(const std::string& path, const std::byte* buffer,
                    const std::vector<Piece>& pieces);

  const Comm& comm_;
  FileMode mode_;
  std::string stem_;
  std::uint64_t every_;
  std::vector<Field> fields_;
  Description description_;
  Plan plan_;
  Exchange exchange_;

  std::vector<Slot> slots_;
  std::vector<std::byte> outgoing_;
  std::uint64_t front_ = 0;   ///< bytes of a slot before the data
  FileImage image_;           ///< of one output; its bytes only on the keeper
  std::vector<Piece> frame_;  ///< of the image: all that is no data

  std::uint64_t count_ = 0;
  std::atomic<std::uint64_t> whole_ = 0;
  std::uint64_t capacity_ = 0;
  std::uint64_t first_address_ = 0;       ///< output of addresses_[0]
  std::vector<std::uint64_t> addresses_;  ///< of the last growth: field after field of each output
  std::optional<SeriesFile> series_;      ///< on the keeper of appended outputs
  posix::File file_;                      ///< of appended outputs, on writers
  std::vector<std::string> files_;
};

}  // namespace slabmark::slice
