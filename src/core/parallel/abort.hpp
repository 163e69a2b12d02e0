#pragma once

#include <string>

#include "core/base/error.hpp"

namespace slabmark {

/// Prints "NAME: error: rank R on host H: MESSAGE" (in a program; NAME is that of enter_program())
/// and ends the job on all ranks with exit status 1. For a failure that the other ranks cannot be
/// told about because they wait in a collective call. If several ranks come here at a time, only
/// the lowest speaks. Files that are guarded by RemoveOnAbort are removed first.
[[noreturn]] void abort_job(const std::string& message);

/// Tells that I/O of this job has failed for good. If the process is still there some seconds
/// later, the job is ended: a rank that failed may wait inside a library for others that wait for
/// it, in a call or while files are closed. `message` is printed then, unless failure_is_told() was
/// called. The first call counts; outside programs (see enter_program()) nothing happens.
void end_soon(const std::string& message, ExitStatus status = ExitStatus::failed);

/// The user has been told why the job fails, or another rank does that.
void failure_is_told();

/// While an object of this class lives, `path` is removed if the job ends early: by abort_job(), or
/// because this process is told to stop, see enter_program(); a directory only if it is empty then,
/// unless it is `with_contents`. Give it only what this run created, a directory before what goes
/// into it.
class RemoveOnAbort {
 public:
  enum class Directory { if_empty, with_contents };

  explicit RemoveOnAbort(const std::string& path, Directory directory = Directory::if_empty);
  ~RemoveOnAbort();
  RemoveOnAbort(const RemoveOnAbort&) = delete;
  RemoveOnAbort& operator=(const RemoveOnAbort&) = delete;

 private:
  int slot_ = -1;
};

/// While an object of this class lives, a signal that ends this program (SIGSEGV, SIGBUS, SIGABRT,
/// SIGFPE, SIGILL) is told in a sentence: "NAME: error: rank R on host H: WORK was ended by SIGBUS.
/// REMEDY". One at a time.
class TellCrash {
 public:
  TellCrash(const std::string& work, const std::string& remedy);
  ~TellCrash();
  TellCrash(const TellCrash&) = delete;
  TellCrash& operator=(const TellCrash&) = delete;
};

/// This process is a program of ours, called `name` (which lasts), not a library's host: signals
/// that tell it to stop (SIGHUP, SIGINT, SIGTERM, SIGXCPU) remove the guarded files first, as those
/// of a crash do, a write beyond RLIMIT_FSIZE is an error instead of a signal, and so is, where
/// there are peers, what MPI sends to one that is gone; the job ends soon after a failed write of
/// MPI-IO, see end_soon().
void enter_program(const char* name);

}  // namespace slabmark
