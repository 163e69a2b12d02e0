#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/map/map_source.hpp"

namespace slabmark {

/// How often the functions below read each row of a source.
inline constexpr std::uint64_t passes_of_single_map = 2;
inline constexpr std::uint64_t passes_of_many_maps = 3;

/// How a map was written.
struct WrittenMap {
  int cdf_version = 1;  ///< 1, or 5 where sizes or offsets need it
  std::uint64_t bytes = 0;
  std::vector<MapSurvey> surveys;  ///< one for each map
};

/// Writes `source` in the layout of June 2018, one entry for each element in model order:
/// dimensions num_procs and max_nreqs, variables nreqs and offsets, attributes var_ndims,
/// dim_len_0, ... (fastest dimension first, as in .dat files), max_nreqs and min_nreqs. Classic
/// CDF-1 where it fits, else CDF-5. Holds one row of the widest rank.
///
/// For one process. The file takes its name when it is complete; an earlier one stays until then.
/// Throws InputError where elements are listed twice, IoError where writing fails.
WrittenMap write_single_map(const std::string& path, const MapSource& source);

/// Writes `sources`, all for the same number of ranks, in the layout of March 2019: dimensions
/// num_decomp and decomp_nprocs, for each map D<k>.total_nreqs, variables D<k>.nreqs, D<k>.offsets
/// and D<k>.lengths, attributes D<k>.ndims, .dims (C order), .max_nreqs and .min_nreqs, and
/// `command_line`. The requests of a rank are sorted, merged and cut at rows. Otherwise as
/// write_single_map.
WrittenMap write_many_maps(const std::string& path, const std::vector<MapSource>& sources,
                           const std::string& command_line);

}  // namespace slabmark
