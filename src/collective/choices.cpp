#include "collective/choices.hpp"

#include <algorithm>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/number.hpp"
#include "storage/posix/file_system.hpp"

namespace slabmark::rearrange {

namespace {

/// Bytes that file systems lock or cache as one, where no hint says more.
constexpr std::uint64_t page = 4096;

}  // namespace

Choices::Choices(const Options& options, const mpiio::Hints& user, std::string path,
                 std::map<std::string, std::string> in_effect)
    : options_(options), in_effect_(std::move(in_effect)), path_(std::move(path)) {
  for (const auto& [key, value] : user) user_[key] = value;
}

std::uint64_t Choices::effective_hint(const std::string& name, std::uint64_t default_value) const {
  auto found = in_effect_.find(name);
  if (found == in_effect_.end()) {  // Open MPI 5 keeps to itself what it was given
    found = user_.find(name);
    if (found == user_.end()) return default_value;
  }
  try {
    return std::max<std::uint64_t>(parse_size(found->second, name), 1);
  } catch (const InputError&) {
    return default_value;  // libraries put words there, too
  }
}

Choices::Choice Choices::alignment() const {
  if (options_.align) return {*options_.align, "option " + options_.prefix + "align"};
  const std::uint64_t stripe = effective_hint("striping_unit", 0);
  return stripe >= page ? Choice{stripe, "hint striping_unit"} : Choice{page, "page"};
}

Choices::Choice Choices::aggregators() const {
  if (options_.aggregators)
    return {*options_.aggregators, "option " + options_.prefix + "aggregators"};
  if (const auto nodes = user_.find("cb_nodes"); nodes != user_.end()) {
    return {parse_count(nodes->second, "cb_nodes"), "hint cb_nodes"};
  }
  const bool striped = effective_hint("striping_factor", 1) > 1;
  return {0, striped ? "nodes and hint striping_factor" : "nodes"};
}

RearrangerSettings Choices::for_rearranger() const {
  RearrangerSettings settings;
  settings.aggregators = aggregators().value;
  settings.stripes = effective_hint("striping_factor", 1);
  settings.window = options_.window.value_or(0);
  settings.node_ranks = options_.node_ranks;
  settings.writers = options_.writers.value_or(posix::locks_file_to_write(path_) ? 1 : 0);
  settings.bridged_hole = options_.holes;
  return settings;
}

}  // namespace slabmark::rearrange
