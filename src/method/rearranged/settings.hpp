#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "exchange/rearranger.hpp"
#include "method/options.hpp"

namespace slabmark {

struct RearrangedOptions {
  std::optional<std::uint64_t> aggregators, window, align, writers;
  std::uint64_t node_ranks = 0;
  std::uint64_t holes = RearrangerSettings{}.bridged_hole;
  bool keep = true;
};

/// Options of a rearranged method, under the prefix of its library ("pnetcdf").
OptionTable<RearrangedOptions> rearranged_options(const std::string& prefix);

/// What a rearranged method was asked for, and what follows from that for a file.
class RearrangedSettings {
 public:
  /// Throws InputError for values that options do not take. `settings` outlives the object.
  RearrangedSettings(const Settings& settings, const std::string& prefix);

  bool keeps() const { return options_.keep; }

  /// `in_effect`: the hints of the open file, which is at `path`.
  void apply_to(const std::string& path, std::map<std::string, std::string> in_effect);

  /// A setting in effect, and what it follows from: for the record.
  struct Choice {
    std::uint64_t value;
    std::string from;
  };
  Choice alignment() const;
  Choice aggregators() const;  ///< 0: as many as nodes, cores and stripes suggest
  RearrangerSettings for_rearranger() const;
  const std::map<std::string, std::string>& hints_in_effect() const { return hints_in_effect_; }

 private:
  std::uint64_t effective_hint(const std::string& name, std::uint64_t default_value) const;

  const Settings& settings_;
  std::string prefix_;
  RearrangedOptions options_;

  std::string path_;
  std::map<std::string, std::string> hints_in_effect_;
};

}  // namespace slabmark
