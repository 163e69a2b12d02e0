#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/method/options.hpp"

namespace slabmark {

// PnetCDF 1.12.3 refuses more than INT_MAX bytes of pending requests a rank (NC_EMAX_REQ) unless it
// was built with large single requests, and packs buffers with gaps through int positions.
inline constexpr std::uint64_t largest_pnetcdf_call = std::uint64_t{1} << 30;

using PnetcdfVersion = std::pair<int, int>;  ///< such as {1, 15}

struct PnetcdfOptions {
  std::uint64_t call_bytes = largest_pnetcdf_call;
  bool blocking = false;
};

/// `blocking_call` is an example of the blocking form, empty for methods that have no other.
OptionTable<PnetcdfOptions> pnetcdf_options(const std::string& blocking_call = "");

/// A name of HDF5, with groups, as one that NetCDF allows: "group.x" for "group/x".
std::string without_slashes(std::string name);

/// The variables' names, in the order of the pattern's datasets: theirs, without slashes; one that
/// would so be called as another is gets "_" appended.
std::vector<std::string> netcdf_names(const Pattern& pattern);

/// Why netCDF cannot hold the pattern.
std::optional<std::string> beyond_netcdf(const Pattern& pattern, const Settings& settings);

/// What the entries of the PnetCDF methods have in common: format, what CDF-5 cannot hold, and
/// whether this build has PnetCDF at all.
MethodInfo pnetcdf_info(std::string name, std::string summary, std::vector<OptionInfo> options);

/// Also refuses what `refuses` has a reason for.
void refuse_more(MethodInfo& info, decltype(MethodInfo::supports) refuses);

}  // namespace slabmark
