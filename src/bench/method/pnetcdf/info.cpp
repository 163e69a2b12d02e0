#include "bench/method/pnetcdf/info.hpp"

#include <algorithm>
#include <cctype>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "bench/method/raw/raw_layout.hpp"
#include "core/base/printable.hpp"

namespace slabmark {

namespace {

bool is_netcdf_name(const std::string& name) {
  const auto begins_names = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c >= 0x80;
  };
  const auto is_control = [](unsigned char c) { return c < ' ' || c == 0x7f; };
  return !name.empty() && name.size() <= 256 &&
         begins_names(static_cast<unsigned char>(name.front())) && name.back() != ' ' &&
         std::none_of(name.begin(), name.end(), is_control);
}

}  // namespace

std::string without_slashes(std::string name) {
  std::replace(name.begin(), name.end(), '/', '.');
  return name;
}

std::vector<std::string> netcdf_names(const Pattern& pattern) {
  std::set<std::string> taken;
  for (const auto& dataset : pattern.datasets) taken.insert(dataset.name);
  std::vector<std::string> names;
  for (const auto& dataset : pattern.datasets) {
    names.push_back(without_slashes(dataset.name));
    if (names.back() == dataset.name) continue;
    while (!taken.insert(names.back()).second) names.back() += '_';
  }
  return names;
}

OptionTable<PnetcdfOptions> pnetcdf_options(const std::string& blocking_call) {
  OptionTable<PnetcdfOptions> table;
  table.add("pnetcdf.call_bytes", &PnetcdfOptions::call_bytes,
            "most bytes a rank hands to PnetCDF before it waits",
            Size{8, largest_pnetcdf_call, "PnetCDF counts requests in int"});
  if (blocking_call.empty()) return table;
  return table.add("pnetcdf.blocking", &PnetcdfOptions::blocking,
                   "on: blocking collective calls, such as " + blocking_call);
}

std::optional<std::string> beyond_netcdf(const Pattern& pattern, const Settings&) {
  std::set<std::string> names;
  for (const auto& dataset : pattern.datasets) {
    if (!names.insert(dataset.name).second) {
      return fmt::format("two datasets are called '{}'", dataset.name);
    }
    for (const auto& dimension : dataset.dimensions) {
      if (dimension.length == 0) {
        return fmt::format(
            "dataset {} has a dimension of length 0, which NetCDF takes for unlimited",
            dataset.name);
      }
    }
  }
  for (const std::string& name : netcdf_names(pattern)) {
    if (!is_netcdf_name(name))
      return fmt::format("'{}' is not a name that NetCDF allows", printable(name));
  }
  // Header, alignment and record padding are far below what 63 bits leave beside real data.
  return too_large_for_raw(pattern);
}

MethodInfo pnetcdf_info(std::string name, std::string summary, std::vector<OptionInfo> options) {
  MethodInfo info{.name = std::move(name),
                  .summary = std::move(summary),
                  .format = FileFormat::netcdf,
                  .options = std::move(options),
                  .supports = beyond_netcdf,
                  .overlaps_in_mpiio = has_overlaps};
#if !SLABMARK_WITH_PNETCDF
  info.missing = "PnetCDF was not found at configure time";
#endif
  return info;
}

void refuse_more(MethodInfo& info, decltype(MethodInfo::supports) refuses) {
  info.supports = [before = std::move(info.supports), refuses = std::move(refuses)](
                      const Pattern& pattern, const Settings& settings) {
    auto reason = refuses(pattern, settings);
    return reason ? reason : before(pattern, settings);
  };
}

}  // namespace slabmark
