#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "checkpoint/settings.hpp"
#include "parallel/comm.hpp"

namespace slabmark::seism_core_slice {

/// The file of a run. It is written under another name beside its own, and takes its own when it is
/// complete: an earlier file stays until then, and a run that fails leaves nothing.
class OutputFile {
 public:
  /// Collective. Throws an agreed Error where no such file can be made: something else stands at
  /// the path, or the bytes do not fit on the disk or under the file size limit.
  OutputFile(const Comm& comm, const CheckpointSettings& settings);

  const std::string& written_as() const { return written_as_; }

  /// Collective.
  void take_its_name();

 private:
  const Comm& comm_;
  std::string path_;
  std::string written_as_;
};

/// True if stripes were asked for and there is a program `lfs`; says so on standard error if there
/// is none. On one rank.
bool can_stripe(const CheckpointSettings& settings);

/// Makes the empty file `path` with the stripes of the settings: `lfs setstripe`. On one rank.
/// Throws IoError with what lfs says.
void make_striped(const CheckpointSettings& settings, const std::string& path);

}  // namespace slabmark::seism_core_slice
