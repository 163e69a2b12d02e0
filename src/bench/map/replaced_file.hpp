#pragma once

#include <cstdint>
#include <string>

#include "core/parallel/abort.hpp"

namespace slabmark {

/// A file that is written under another name beside its own and takes its own name when it is
/// complete: whoever looks sees the earlier file or the new one, never half of one. Not collective.
class ReplacedFile {
 public:
  /// Makes the empty file beside `path`. Throws InputError where posix::require_output() does,
  /// IoError where there is no room for `bytes` bytes.
  ReplacedFile(const std::string& path, std::uint64_t bytes);

  /// Removes what was written unless commit() was called.
  ~ReplacedFile();
  ReplacedFile(const ReplacedFile&) = delete;
  ReplacedFile& operator=(const ReplacedFile&) = delete;

  const std::string& path() const { return path_; }
  const std::string& written_as() const { return written_as_; }

  /// Gives the file its name, after checking that it has at least `bytes` bytes: MPI-IO may report
  /// success for what did not fit on the disk or under a file size limit.
  void commit(std::uint64_t bytes);

 private:
  void create(std::uint64_t bytes) const;

  std::string path_;
  std::string written_as_;
  RemoveOnAbort guard_;
  bool is_committed_ = false;
};

}  // namespace slabmark
