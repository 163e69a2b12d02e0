#pragma once

#include <deque>
#include <filesystem>
#include <string>
#include <vector>

#include "core/parallel/abort.hpp"
#include "core/parallel/comm.hpp"

namespace slabmark {

/// The directory for the output, made with its parents where it is missing. The created files and
/// folders are removed again when the object goes, if they are empty, unless keep() was called: a
/// failed run leaves nothing behind.
class OutputDirectory {
 public:
  /// Collective. `choice` is the option that names another. Throws an agreed InputError if the
  /// directory cannot be made or is something else.
  OutputDirectory(const Comm& comm, const std::string& path, const std::string& choice);
  ~OutputDirectory();
  OutputDirectory(const OutputDirectory&) = delete;
  OutputDirectory& operator=(const OutputDirectory&) = delete;

  void keep();

 private:
  void remove_made() noexcept;

  std::vector<std::filesystem::path> made_;  ///< outermost first; only on root
  std::deque<RemoveOnAbort> guards_;         ///< on all ranks, since any may have to end the job
};

}  // namespace slabmark
