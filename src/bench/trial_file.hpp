#pragma once

#include <string>

#include "parallel/abort.hpp"
#include "parallel/comm.hpp"

namespace slabmark {

/// Collective. Throws an agreed InputError if something stands at `path` already (unless
/// `overwrite`, when a regular file there is removed), or if its directory is missing or not
/// writable. `choice` is what the user chooses the directory with.
void require_free_path(const Comm& comm, const std::string& path, bool overwrite,
                       const std::string& choice = "-o");

/// The file that a trial makes at a path that was free. It is removed when the object goes, also
/// when the job is aborted, unless keep() was called.
class TrialFile {
 public:
  TrialFile(const Comm& comm, std::string path);
  ~TrialFile();
  TrialFile(const TrialFile&) = delete;
  TrialFile& operator=(const TrialFile&) = delete;

  const std::string& path() const { return path_; }
  void keep() { keep_ = true; }

 private:
  const Comm& comm_;
  std::string path_;
  RemoveOnAbort guard_;
  bool keep_ = false;
};

}  // namespace slabmark
