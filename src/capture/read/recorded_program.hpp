#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "capture/read/captured_walk.hpp"
#include "capture/read/pattern_file.hpp"

namespace slabmark {

/// A captured program, for those who go through its calls or make them again.
struct RecordedProgram {
  RecordedProgram(const std::string& path, const FileChoice& choice)
      : file(path, choice), paths(file), numbers(file) {}

  /// The calls of a recorded rank.
  CapturedWalk walk(std::uint64_t rank) const {
    return {file, paths, numbers, shapes, rank, direction};
  }

  PatternFile file;
  Paths paths;
  DatasetNumbers numbers;
  DatasetShapes shapes;
  std::uint32_t direction = 0;  ///< capture::writes or capture::reads: what is played
  /// The recorded rank whose calls this process makes; empty if the run has another number of ranks
  /// than was recorded.
  std::optional<std::uint64_t> recorded_rank;
  std::vector<std::uint64_t> files;      ///< paths of the files that are played, in order
  std::set<std::uint64_t> shared_paths;  ///< of these, those that several ranks opened
};

}  // namespace slabmark
