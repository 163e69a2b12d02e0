#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "map/decomposition.hpp"
#include "pattern/selection.hpp"

namespace slabmark {

/// Selections of ranks in the maps of a decomposition file, and what reading them took.
class MapSelections {
 public:
  /// Collective. Throws an agreed InputError where open_map() does.
  MapSelections(const Comm& comm, const std::string& path);

  const MapFile& file() const { return *file_; }

  /// Collective: what `rank` owns of map `k`. Throws an agreed InputError where MapFile::read()
  /// does, and, with `check`, where ranks own the same element; `rank` is then the caller's own.
  SelectionPtr read(std::size_t k, int rank, bool check);

  /// Collective: the slowest rank's seconds so far, "map_open", "map_read", "map_sort".
  std::map<std::string, double> setup() const;

  /// Collective: coalesced requests of one map on the busiest rank, of all read so far.
  std::uint64_t max_requests() const;

 private:
  const Comm& comm_;
  std::unique_ptr<MapFile> file_;
  double open_seconds_ = 0.0;
  double read_seconds_ = 0.0;
  double sort_seconds_ = 0.0;
  std::uint64_t max_requests_ = 0;
};

}  // namespace slabmark
