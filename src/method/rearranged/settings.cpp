#include "method/rearranged/settings.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "base/number.hpp"
#include "storage/posix/file_system.hpp"

namespace slabmark {

namespace {

constexpr std::uint64_t largest_window = std::uint64_t{1} << 30;  // messages are counted in int

/// Bytes that file systems lock or cache as one, where no hint says more.
constexpr std::uint64_t page = 4096;

}  // namespace

OptionTable<RearrangedOptions> rearranged_options(const std::string& prefix) {
  using Options = RearrangedOptions;
  const SizeOr automatic{"auto", {.min = 1}};
  OptionTable<Options> table;
  table.add(
      prefix + ".aggregators", &Options::aggregators,
      "ranks that write; auto: the hint cb_nodes, or up to 4 a node, a multiple of the stripes",
      automatic);
  table.add(prefix + ".window", &Options::window,
            "most bytes that a rank holds for the exchange; auto: 2M on one node",
            SizeOr{"auto", {64, largest_window}});
  table.add(prefix + ".align", &Options::align,
            "aggregators' ranges begin at multiples of it; auto: the stripe, or 4096", automatic);
  table.add(prefix + ".node_ranks", &Options::node_ranks,
            "ranks that use shared memory; 0: as MPI says, 1: messages only");
  table.add(
      prefix + ".writers", &Options::writers,
      "aggregators of a node that write at once; auto: 1 where the kernel locks the file, else "
      "all",
      automatic);
  table.add(prefix + ".holes", &Options::holes,
            "holes up to this size are written over with zeros, or read along");
  table.add(prefix + ".keep", &Options::keep,
            "the next file of a run uses the plan and the memory of this one");
  return table;
}

RearrangedSettings::RearrangedSettings(const Settings& settings, const std::string& prefix)
    : settings_(settings), prefix_(prefix), options_(rearranged_options(prefix).read(settings)) {}

void RearrangedSettings::apply_to(const std::string& path,
                                  std::map<std::string, std::string> in_effect) {
  path_ = path;
  hints_in_effect_ = std::move(in_effect);
}

std::uint64_t RearrangedSettings::effective_hint(const std::string& name,
                                                 std::uint64_t default_value) const {
  const auto found = hints_in_effect_.find(name);
  if (found == hints_in_effect_.end()) return default_value;
  try {
    return std::max<std::uint64_t>(parse_size(found->second, name), 1);
  } catch (const InputError&) {
    return default_value;  // libraries put words there, too
  }
}

RearrangedSettings::Choice RearrangedSettings::alignment() const {
  if (options_.align) return {*options_.align, "option " + prefix_ + ".align"};
  const std::uint64_t stripe = effective_hint("striping_unit", 0);
  return stripe >= page ? Choice{stripe, "hint striping_unit"} : Choice{page, "page"};
}

RearrangedSettings::Choice RearrangedSettings::aggregators() const {
  if (options_.aggregators) return {*options_.aggregators, "option " + prefix_ + ".aggregators"};
  for (const auto& [key, value] : settings_.hints) {
    if (key == "cb_nodes") return {parse_count(value, "cb_nodes"), "hint cb_nodes"};
  }
  const bool striped = effective_hint("striping_factor", 1) > 1;
  return {0, striped ? "nodes and hint striping_factor" : "nodes"};
}

RearrangerSettings RearrangedSettings::for_rearranger() const {
  RearrangerSettings settings;
  settings.aggregators = aggregators().value;
  settings.stripes = effective_hint("striping_factor", 1);
  settings.window = options_.window.value_or(0);
  settings.node_ranks = options_.node_ranks;
  settings.writers = options_.writers.value_or(posix::locks_file_to_write(path_) ? 1 : 0);
  settings.bridged_hole = options_.holes;
  return settings;
}

}  // namespace slabmark
