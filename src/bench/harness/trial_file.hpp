#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/harness/cell.hpp"
#include "bench/method/format.hpp"
#include "core/parallel/abort.hpp"
#include "core/parallel/comm.hpp"
#include "storage/posix/free_path.hpp"

namespace slabmark {

/// Files that a method leaves beside the one it is told to write.
using Companions = std::function<std::vector<std::string>(const std::string& path)>;

/// Collective: posix::require_free_path() of `path` and its companions, and the error is agreed.
/// Throws it too if the path is too long for the MPI-IO in effect.
void require_free_path(const Comm& comm, const std::string& path, const posix::Output& output,
                       const Companions& companions = nullptr);

/// The format of the files that a cell makes. A captured program's own calls leave its other files
/// as companions.
FormatInfo format_of(const Cell& cell, const Pattern& pattern);

/// The file that a trial makes at a path that was free. It is removed when the object goes, with
/// its companions and its journal, or, where it is a directory, with all that is in it, unless
/// keep() was called; also when the job is aborted, or told to stop, and then in any case.
class TrialFile {
 public:
  /// `format`: of the file, which has companions and journals if its format has; it lasts.
  TrialFile(const Comm& comm, std::string path, const FormatInfo* format = nullptr);
  ~TrialFile();
  TrialFile(const TrialFile&) = delete;
  TrialFile& operator=(const TrialFile&) = delete;

  const std::string& path() const { return path_; }
  void keep() { keep_ = true; }

  /// To be called when the file has been made: how the companions are called is known only then,
  /// and an abort is no time to look for them.
  void guard_companions();

 private:
  const Comm& comm_;
  std::string path_;
  std::string journal_;  ///< empty: none
  Companions companions_;
  RemoveOnAbort guard_;
  std::optional<RemoveOnAbort> journal_guard_;
  bool is_directory_ = false, is_made_ = false;
  std::deque<RemoveOnAbort> companion_guards_;  // on all ranks, since any may have to end the job
  bool keep_ = false;
};

}  // namespace slabmark
