#pragma once

#include <string>

namespace slabmark {

/// Prints "rank R on host H: MESSAGE" and ends the job on all ranks with exit status 1. For a
/// failure that the other ranks cannot be told about because they wait in a collective call. Files
/// that are guarded by RemoveOnAbort are removed first.
[[noreturn]] void abort_job(const std::string& message);

/// While an object of this class lives, `path` is removed if the job ends early: by abort_job(), or
/// because this process is told to stop (SIGINT, SIGTERM); a directory only if it is empty then.
/// Give it only what this run created, a directory before what goes into it.
class RemoveOnAbort {
 public:
  explicit RemoveOnAbort(const std::string& path);
  ~RemoveOnAbort();
  RemoveOnAbort(const RemoveOnAbort&) = delete;
  RemoveOnAbort& operator=(const RemoveOnAbort&) = delete;

 private:
  int slot_ = -1;
};

/// Makes SIGINT and SIGTERM remove the guarded files before they end the process.
void remove_guarded_files_on_signals();

}  // namespace slabmark
