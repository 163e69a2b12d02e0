#pragma once

#include <memory>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "bench/buffers.hpp"
#include "bench/cell.hpp"
#include "measure/clock.hpp"
#include "parallel/deadline.hpp"
#include "pattern/content.hpp"
#include "storage/mpiio/trial_file.hpp"

namespace slabmark {

/// One pass of a pattern through a method, as this rank saw it.
struct Trial {
  RankTimes times;
  nlohmann::json effective;
  std::optional<Mismatch> mismatch;  ///< of a read: the first of this rank's wrong elements
  std::uint64_t checked = 0;         ///< of a read: elements compared on this rank
};

/// Writes cell.written to `file`, where nothing stands yet. Collective. `kept`: of the trials of
/// one cell, see MethodContext.
Trial write_trial(const Comm& comm, const Cell& cell, mpiio::TrialFile& file, Buffers& buffers,
                  bool sync, Deadline& deadline, std::shared_ptr<void>* kept = nullptr);

/// Reads cell.read from cell.path and, with `verify`, checks each buffer with the clock stopped.
/// Collective.
Trial read_trial(const Comm& comm, const Cell& cell, Buffers& buffers, bool verify,
                 Deadline& deadline, std::shared_ptr<void>* kept = nullptr);

}  // namespace slabmark
