#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "storage/posix/file.hpp"

namespace slabmark::slablog {

/// Makes the writes between two commits one step: before bytes are overwritten that were in the
/// file at the last commit, they are saved in a file beside it. Where the writer is killed,
/// roll_back() puts them back. It holds for the end of a process, not for a power failure: nothing
/// is synced.
///
/// All ranks append to one file; rank 0 begins and commits.
class Journal : public std::enable_shared_from_this<Journal> {
 public:
  /// The journal of this file, which may be in use in this process already. Nothing is written yet.
  static std::shared_ptr<Journal> of(const std::string& path, int rank);
  /// True if this process is rank 0 of those that write that file.
  static bool is_kept_here(const std::string& path);

  Journal(std::string path, int rank)
      : path_(std::move(path)), rank_(static_cast<std::uint32_t>(rank)) {}
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  /// On rank 0: makes the journal, and from now on shows others that the file is being written.
  /// `mark`: the address of eight bytes of the file that are the journal's own. Throws IoError if
  /// another process writes the file.
  void start(std::uint64_t mark);

  /// On rank 0: what is in the file now, up to byte `end`, is what a crash goes back to from now
  /// on. That takes one system call, so it is done or not done. No rank may write meanwhile.
  /// Throws as check() does.
  void commit(std::uint64_t end);
  /// On rank 0, when the file is closed: commits for the last time, and removes the journal.
  void finish();
  /// On the others, which learn from rank 0 what it has committed.
  void follow(std::uint64_t epoch, std::uint64_t end);
  const std::string& path() const { return path_; }
  std::uint64_t epoch() const { return epoch_; }
  std::uint64_t committed() const { return committed_; }

  /// To be called before bytes of the file are written. Throws IoError if the journal cannot take
  /// what is there now; then they must not be written.
  void protect(std::uint64_t offset, std::uint64_t bytes);

  /// The same for HDF5's driver. Returns false if the bytes must not be written; then check()
  /// throws from now on.
  bool try_protect(std::uint64_t offset, std::uint64_t bytes);
  /// Also for the driver: HDF5 could not write something, and was told that it is done.
  void set_deferred_error(const std::string& failure);
  /// Throws IoError if something that HDF5 wrote is not in the file.
  void check() const;

 private:
  void empty();
  void save(std::uint64_t begin, std::uint64_t end);

  std::string path_;  ///< of the HDF5 file
  std::uint32_t rank_;
  posix::File journal_;
  posix::File file_;
  std::uint64_t mark_ = 0;
  std::uint64_t committed_ = 0;
  std::uint64_t epoch_ = 0;                       ///< a random number, another after each commit
  std::uint32_t records_ = 0;                     ///< of this rank in this epoch
  std::map<std::uint64_t, std::uint64_t> saved_;  ///< by it: begin and end
  std::string failure_;
};

}  // namespace slabmark::slablog
