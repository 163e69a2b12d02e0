#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "bench/harness/run_arguments.hpp"
#include "bench/measure/clock_check.hpp"
#include "bench/measure/record.hpp"
#include "bench/method/environment.hpp"
#include "core/json/json.hpp"
#include "core/parallel/comm.hpp"
#include "core/parallel/deadline.hpp"

namespace slabmark {

/// The work of a measuring program around its cells: it asks if its records can be kept before it
/// measures for hours, notes the conditions, and keeps the records. The work before the cells and
/// after them has the deadline of a phase, too: a node may get lost at any time.
class Session {
 public:
  /// Collective. Throws an agreed InputError if the records that `options` ask for could not be
  /// appended, or HDF5 does not start. The references outlive the session.
  Session(const Comm& world, const char* program, const CommonOptions& options);

  /// Collective. Begins the manifest of a run whose files go to `directory`, and warns of an MPI-IO
  /// that is known to be slow.
  void begin(const std::string& directory, const Json& configuration);

  /// The settings in effect for files in that directory.
  const LibraryEnvironment& environment() const { return environment_; }

  /// Collective over ranks with the session's root. Enters into `records`, on root, under which
  /// conditions they came about, appends them to the file that the user named, if any, and then
  /// calls `report` there: the record is the truth. Records that are printed stand alone.
  void finish(
      const Comm& comm, std::span<CellRecord> records, const std::function<void()>& report = [] {},
      const std::map<std::string, double>& setup = {});

 private:
  const Comm& world_;
  const char* program_;
  const CommonOptions& options_;
  Deadline deadline_;
  std::optional<ClockCheck> clocks_;  ///< from when the libraries have started
  LibraryEnvironment environment_;
  Json manifest_;
};

}  // namespace slabmark
