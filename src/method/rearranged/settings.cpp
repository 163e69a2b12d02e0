#include "method/rearranged/settings.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/number.hpp"
#include "storage/posix/file_system.hpp"

namespace slabmark {

namespace {

constexpr std::uint64_t largest_window = std::uint64_t{1} << 30;  // messages are counted in int

/// Bytes that file systems lock or cache as one, where no hint says more.
constexpr std::uint64_t page = 4096;

std::uint64_t window_of(const Settings& settings, const std::string& name) {
  if (settings.text(name, "auto") == "auto") return 0;
  const std::uint64_t bytes = settings.count(name, 0);
  if (bytes < 64 || bytes > largest_window) {
    throw InputError(
        fmt::format("Option {} is {}; it takes auto or 64 to 1G.", name, settings.text(name, "")));
  }
  return bytes;
}

/// 0: auto.
std::uint64_t count_or_auto(const Settings& settings, const std::string& name) {
  const std::string text = settings.text(name, "auto");
  return text == "auto" ? 0 : std::max<std::uint64_t>(parse_size(text, "option " + name), 1);
}

}  // namespace

std::vector<OptionInfo> rearranged_options(const std::string& prefix) {
  return {
      {prefix + ".aggregators", "auto",
       "ranks that write; auto: the hint cb_nodes, or up to 4 a node, a multiple of the stripes"},
      {prefix + ".window", "auto",
       "most bytes that a rank holds for the exchange (64 to 1G); auto: 2M on one node"},
      {prefix + ".align", "auto",
       "aggregators' ranges begin at multiples of it; auto: the stripe, or 4096"},
      {prefix + ".node_ranks", "0",
       "ranks that use shared memory; 0: as MPI says, 1: messages only"},
      {prefix + ".writers", "auto",
       "aggregators of a node that write at once; auto: 1 where the kernel locks the file, else "
       "all"},
      {prefix + ".holes", "32K",
       "holes up to this size are written over with zeros, or read along"},
      {prefix + ".keep", "on", "the next file of a run uses the plan and the memory of this one"}};
}

RearrangedSettings::RearrangedSettings(const Settings& settings, const std::string& prefix)
    : settings_(settings),
      prefix_(prefix),
      aggregators_(count_or_auto(settings, prefix + ".aggregators")),
      window_(window_of(settings, prefix + ".window")),
      align_(count_or_auto(settings, prefix + ".align")),
      node_ranks_(settings.count(prefix + ".node_ranks", 0)),
      writers_(count_or_auto(settings, prefix + ".writers")),
      holes_(settings.count(prefix + ".holes", RearrangerSettings{}.bridged_hole)),
      keep_(settings.flag(prefix + ".keep", true)) {}

void RearrangedSettings::apply_to(const std::string& path,
                                  std::map<std::string, std::string> in_effect) {
  path_ = path;
  hints_in_effect_ = std::move(in_effect);
}

std::uint64_t RearrangedSettings::effective_hint(const std::string& name,
                                                 std::uint64_t otherwise) const {
  const auto found = hints_in_effect_.find(name);
  if (found == hints_in_effect_.end()) return otherwise;
  try {
    return std::max<std::uint64_t>(parse_size(found->second, name), 1);
  } catch (const InputError&) {
    return otherwise;  // libraries put words there, too
  }
}

RearrangedSettings::Choice RearrangedSettings::alignment() const {
  if (align_ > 0) return {align_, "option " + prefix_ + ".align"};
  const std::uint64_t stripe = effective_hint("striping_unit", 0);
  return stripe >= page ? Choice{stripe, "hint striping_unit"} : Choice{page, "page"};
}

RearrangedSettings::Choice RearrangedSettings::aggregators() const {
  if (aggregators_ > 0) return {aggregators_, "option " + prefix_ + ".aggregators"};
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
  settings.window = window_;
  settings.node_ranks = node_ranks_;
  settings.writers = writers_ == 0 && posix::locks_file_to_write(path_) ? 1 : writers_;
  settings.bridged_hole = holes_;
  return settings;
}

}  // namespace slabmark
