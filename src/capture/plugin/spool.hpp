#pragma once

#include <cstdint>
#include <string>
#include <sys/stat.h>

#include "capture/coding.hpp"
#include "capture/spool_frame.hpp"

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

 private:
  bool open();

  std::string folder_, path_;
  int file_ = -1;
  struct stat opened_ {};  ///< what the descriptor was
  std::uint64_t process_;
  std::uint64_t frames_ = 0;
  Bytes out_;
  bool whole_ = true;  ///< what was written on the way
};

}  // namespace slabmark::capture
