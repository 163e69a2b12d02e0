#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <sys/stat.h>

#include "capture/format/coding.hpp"
#include "capture/format/spool_frame.hpp"

namespace slabmark::capture {

/// The file of this node, to which each process appends frames.
class Spool {
 public:
  /// `pattern`: the pattern file to be; the spool is in the folder beside it.
  explicit Spool(const std::string& pattern);

  /// Puts the bytes of a stream into the next write(), and empties `bytes`.
  void add(Stream stream, Bytes& bytes);
  /// Gives what was added to the file, which it opens the first time. False, with errno, where that
  /// could not be done.
  bool write();

  const std::string& path() const { return path_; }

  /// How many calls children of this process made: in a file that all of them have in memory, as
  /// children may end after it, and each be killed at any time. Null where that cannot be.
  std::atomic<std::uint64_t>* calls_of_children();
  bool has_calls_of_children() const;

 private:
  bool make_folder() const;
  bool open();
  std::string path_of_children() const;

  std::string folder_, path_;
  int file_ = -1;
  struct stat opened_ {};  ///< what the descriptor was
  std::uint64_t process_;
  std::uint64_t frames_ = 0;
  Bytes out_;
  bool whole_ = true;  ///< what was written on the way
};

}  // namespace slabmark::capture
