#pragma once

#include <string>
#include <vector>

#include "core/parallel/comm.hpp"

namespace slabmark::slablog {

/// Collective. Prints what the log of a file holds.
void info(const Comm& world, const std::string& path);

/// Collective. Writes what a log file holds as an ordinary file of contiguous datasets. An output
/// that fails is removed.
void canonical(const Comm& world, const std::string& input, const std::string& output);

struct RepairOptions {
  std::vector<std::string> paths;
  bool materialise = false;
};

/// Collective. Brings log files that their writer did not close back to what was flushed, and makes
/// their views.
void repair(const Comm& world, const RepairOptions& options);

}  // namespace slabmark::slablog
