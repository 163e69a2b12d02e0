#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "bench/map/decomposition.hpp"
#include "core/json/json.hpp"

namespace slabmark::decomp {

/// Order statistics of whole numbers.
struct Spread {
  std::uint64_t min = 0;
  double median = 0.0;  ///< of an even count, the mean of the two in the middle
  double mean = 0.0;
  std::uint64_t max = 0;
  std::uint64_t total = 0;
};

/// Of numbers given as how often each occurs.
Spread spread_of(const std::map<std::uint64_t, std::uint64_t>& occurrences);

/// The answer of `info` about one map.
struct MapStatistics {
  MapHeader header;
  Coverage coverage;
  std::array<std::uint64_t, 2> owners{};  ///< of the first element that several ranks own
  std::uint64_t ranks = 0;                ///< that the requests are counted for
  Spread elements;                        ///< per rank
  Spread requests;                        ///< per rank, sorted, merged and cut at rows
  /// How many runs have which length, in elements.
  std::map<std::uint64_t, std::uint64_t> run_lengths;
};

/// Collective. Statistics of map `k` on `ranks` ranks (0: as many as recorded) that take its
/// recorded ranks in contiguous blocks. Valid on rank 0. Each rank holds its share of the map.
MapStatistics gather_statistics(const Comm& comm, MapFile& file, std::size_t k,
                                std::uint64_t ranks);

std::string to_text(const MapStatistics& map, const std::string& name);
Json to_json(const MapStatistics& map, const std::string& name);

}  // namespace slabmark::decomp
