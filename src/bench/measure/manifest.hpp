#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "core/json/json.hpp"
#include "core/parallel/comm.hpp"

namespace slabmark {

/// The facts of a run that only the program knows.
struct ManifestRequest {
  std::string program;                  ///< "slabmark-bench"
  std::string output_directory;         ///< where the measured files lie; it need not exist yet
  Json configuration = Json::object();  ///< resolved: defaults filled in
  std::uint64_t seed = 0;
  /// Merged at the top level, after all else: what the libraries say of themselves at run time
  /// ("libraries": {"hdf5": "2.2.0"}, "mpi_io": "OMPIO"). Modules below the libraries cannot ask
  /// them.
  Json more = Json::object();
};

/// Under which conditions a run measured; docs/reference/records.md lists the members. "ended" is
/// null until the caller sets it. Collective; the manifest is complete on root and null elsewhere.
Json collect_manifest(const Comm& comm, const ManifestRequest& request);

/// "2026-01-31T23:59:59.123Z": UTC as ISO 8601 writes it, to the millisecond.
std::string utc_time(std::chrono::system_clock::time_point when);
std::string utc_now();

/// 16 hexadecimal digits: 64-bit FNV-1a of the compact dump of `configuration`. Members of an
/// object are dumped in the order of their names, so that their order in the source does not
/// matter.
std::string configuration_hash(const Json& configuration);

}  // namespace slabmark
