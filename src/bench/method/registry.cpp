#include "bench/method/registry.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/base/nearest.hpp"

// The methods, in the order of tables. A line `entry(x)` stands for the function x_method() of a
// file in this folder, which describes the method. This list is all that knows of it.
// clang-format off: one line a method
#define SLABMARK_METHODS(entry)                                                                    \
  entry(posix) entry(mpiio_independent) entry(mpiio_collective) entry(mpiio_rearranged)            \
      entry(pnetcdf_vard) entry(pnetcdf_varn) entry(pnetcdf_varn_aggregated)                       \
          entry(pnetcdf_varn_mpiio) entry(pnetcdf_vara) entry(pnetcdf_rearranged) entry(hdf5_slab) \
              entry(hdf5_union) entry(hdf5_union_naive) entry(hdf5_points) entry(hdf5_multi)       \
                  entry(hdf5_contiguous) entry(hdf5_subfiling) entry(hdf5_log)                     \
                      entry(hdf5_rearranged) entry(netcdf4_var) entry(zarr_slab)                   \
                          entry(zarr_rearranged) entry(blob) entry(append) entry(append_one)       \
                              entry(append_ranks) entry(append_async) entry(files)                 \
                                  entry(files_one) entry(files_ranks) entry(files_async)           \
                                      entry(copy_plane) entry(copy_field) entry(gatherv)           \
                                          entry(touch) entry(read) entry(floor) entry(whole)       \
                                              entry(null) entry(as_captured_pnetcdf)               \
                                                  entry(as_captured_hdf5) entry(as_captured_mpiio) \
                                                      entry(as_captured_posix)
// clang-format on

namespace slabmark {

#define SLABMARK_DECLARE(method) MethodInfo method##_method();
SLABMARK_METHODS(SLABMARK_DECLARE)
#undef SLABMARK_DECLARE

namespace {

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
  const auto near = nearest(word, known);
  if (!near.empty()) return fmt::format("did you mean {}?", near);
  return fmt::format("known are {}.", fmt::join(known, ", "));
}

}  // namespace

std::span<const MethodInfo> methods() {
#define SLABMARK_MAKE(method) method##_method(),
  static const std::vector<MethodInfo> all = {SLABMARK_METHODS(SLABMARK_MAKE)};
#undef SLABMARK_MAKE
  return all;
}

const MethodInfo& find_method(std::string_view name) {
  std::vector<std::string> known;
  for (const auto& method : methods()) {
    known.push_back(method.name);
    if (method.name != name) continue;
    if (method.missing.empty()) return method;
    throw InputError(
        fmt::format("Method {} is not in this build: {}.", method.name, method.missing));
  }
  throw InputError(fmt::format("There is no method '{}'; {}", name, did_you_mean(name, known)));
}

void check_options(const Settings& settings, std::span<const MethodInfo* const> chosen) {
  for (const auto& [name, value] : settings.options) {
    std::set<std::string> known;
    for (const auto* method : chosen) {
      for (const auto& option : method->options) {
        known.insert(option.name);
        if (option.name != name) continue;
        option.canonical(value);
      }
    }
    if (known.contains(name)) continue;
    std::vector<std::string> asked;
    for (const auto* method : chosen) asked.push_back(method->name);
    throw InputError(fmt::format(
        "{} no option '{}'; {}",
        asked.size() == 1 ? asked.front() + " has" : fmt::format("{} have", fmt::join(asked, ", ")),
        name, known.empty() ? "leave it out." : did_you_mean(name, {known.begin(), known.end()})));
  }
}

int thread_level(std::span<const MethodInfo* const> chosen) {
  int level = MPI_THREAD_FUNNELED;
  for (const MethodInfo* method : chosen) level = std::max(level, method->file().thread_level);
  return level;
}

}  // namespace slabmark
