#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "bench/map/decomposition.hpp"

namespace slabmark {

/// Merges sorted runs that touch or overlap, in place, and drops empty ones.
void unite(RunList& runs);

/// Makes the part of a rank from the rows of its recorded ranks. Each row is sorted and merged as
/// it comes, so that of element lists, 16 bytes an element as runs, only one row is held at a time.
class PartBuilder {
 public:
  /// `map` is how messages call it: 'map D3 of "f.nc"'. Starts the clock of the part.
  PartBuilder(const MapHeader& header, std::string map);

  /// Takes the runs of recorded rank `rank` and leaves `row` empty, with its memory. They are
  /// within the array, and in any order. `requests` counts what the file listed. Throws InputError
  /// where an element is listed twice.
  void add_row(std::uint64_t rank, RunList& row, std::uint64_t requests);

  /// The part, cut at rows of the array.
  MapPart finish();

 private:
  const MapHeader& header_;
  std::string map_;
  MapPart part_;
  const std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
};

}  // namespace slabmark
