#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "bench/map/decomposition.hpp"
#include "bench/map/pio_text.hpp"
#include "bench/pattern/synthetic/decomposition.hpp"
#include "core/geometry/extent.hpp"
#include "core/geometry/run.hpp"

namespace slabmark {

/// A whole map that is to be written, one recorded rank at a time, wherever it comes from. For one
/// process: conversion is not parallel.
struct MapSource {
  std::string name;  ///< for messages: a file, or a map in one
  Extent dims;       ///< C order
  std::uint64_t ranks = 0;
  /// The elements of a recorded rank as 0-based row-major runs, in model order where the source has
  /// it. Called more than once for each rank: writers need the sizes before the data.
  std::function<RunList(std::uint64_t rank)> row;
};

MapSource source_of(PioText text);
MapSource source_of(SyntheticMap map);

/// Map `k` of an open file; each row comes sorted, merged and cut at rows, since that is how a
/// MapFile gives them. `file` must have been opened by this process alone (MPI_COMM_SELF).
MapSource source_of(std::shared_ptr<MapFile> file, std::size_t k);

/// The result of a first pass over a source.
struct MapSurvey {
  std::uint64_t elements = 0;  ///< of the array
  std::uint64_t listed = 0;    ///< owned by a rank
  std::uint64_t most = 0;      ///< listed by one rank
  std::uint64_t fewest = 0;    ///< listed by one rank
};

/// Reads all of `source` once. Throws InputError that names element and ranks where an element is
/// listed twice. Takes one bit for each element of the array, or less where few are listed.
MapSurvey survey(const MapSource& source);

}  // namespace slabmark
