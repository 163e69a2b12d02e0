#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "map/decomposition.hpp"

namespace slabmark {

/// Makes the part of a rank from the rows of its recorded ranks. Each row is sorted and merged as
/// it comes, so that of element lists, 16 bytes an element as runs, only one row is held at a time.
class PartBuilder {
 public:
  /// `map` is how messages call it: 'map D3 of "f.nc"'. Starts the clock of the part.
  PartBuilder(const MapHeader& header, std::string map, Run block);

  /// Takes the runs of recorded rank `rank` and leaves `row` empty, with its memory. They are
  /// within the array, and in any order. `requests` counts what the file listed. Throws InputError
  /// where an element is listed twice.
  void add_row(std::uint64_t rank, RunList& row, std::uint64_t requests);

  /// The part, cut at rows of the array. Throws InputError where an element is listed by two of the
  /// recorded ranks.
  MapPart finish();

 private:
  [[noreturn]] void fail_overlap(std::uint64_t element, const std::string& owner) const;

  const MapHeader& header_;
  std::string map_;
  Run block_;
  MapPart part_;
  const std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
};

}  // namespace slabmark
