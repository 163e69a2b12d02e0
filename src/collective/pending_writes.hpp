#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "collective/file_identity.hpp"
#include "storage/mpiio/error.hpp"

namespace slabmark::collective {

/// Writes of this process that wait in memory, for one file. A thread of the process makes them,
/// one after another, by a descriptor of its own and without a call of MPI. The memory of all
/// files of the process counts together.
class PendingWrites {
 public:
  /// Opens the file once more. Throws where it cannot, or where there can be no thread.
  explicit PendingWrites(const std::string& path);
  /// After all that waits. A failure that nobody took is told on stderr.
  ~PendingWrites();
  PendingWrites(const PendingWrites&) = delete;
  PendingWrites& operator=(const PendingWrites&) = delete;

  FileIdentity identity() const;

  /// Returns once fewer than so many flushes wait (0: at once). The next flush begins.
  void begin_flush(std::uint64_t most_flushes);
  /// Copies the data, as soon as at most `most_bytes` of the process wait with them. Where there is
  /// no memory for a copy they are in the file on return.
  void add(std::uint64_t offset, const std::byte* data, std::uint64_t bytes,
           std::uint64_t most_bytes);
  /// Returns when all is in the file, or has failed.
  void wait();

  /// The first failure since the last call.
  std::optional<mpiio::Failure> take_failure();

  struct State;  ///< shared with the thread

 private:
  void add_some(std::uint64_t offset, const std::byte* data, std::uint64_t bytes,
                std::uint64_t most_bytes);

  std::shared_ptr<State> state_;
  std::deque<std::uint64_t> flush_ends_;  ///< the last write of each flush that may wait still
};

/// Counts a file as open, on each rank that may write to it. Data of a file that this process has
/// open more than once do not wait: the other handle would not find them.
class FileUse {
 public:
  FileUse() = default;
  /// Returns when the process has no writes pending for that file.
  explicit FileUse(std::optional<FileIdentity> identity);
  ~FileUse();
  FileUse(FileUse&& other) noexcept : identity_(std::exchange(other.identity_, std::nullopt)) {}
  FileUse& operator=(FileUse&& other) noexcept {
    std::swap(identity_, other.identity_);
    return *this;
  }

  static bool is_shared(const FileIdentity& identity);

 private:
  std::optional<FileIdentity> identity_;
};

/// Returns when this process has no writes pending for the file of that name.
void wait_for_writes_to(const std::string& path);

/// Bytes of this process that wait.
std::uint64_t pending_bytes();

}  // namespace slabmark::collective
