#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "exchange/rearranger.hpp"
#include "method/method.hpp"

namespace slabmark {

/// Options of a rearranged method, under the prefix of its library ("pnetcdf").
std::vector<OptionInfo> rearranged_options(const std::string& prefix);

/// What a rearranged method was asked for, and what follows from that for a file.
class RearrangedSettings {
 public:
  /// Throws InputError for values that options do not take. `settings` outlives the object.
  RearrangedSettings(const Settings& settings, const std::string& prefix);

  bool keeps() const { return keep_; }

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
  std::uint64_t effective_hint(const std::string& name, std::uint64_t otherwise) const;

  const Settings& settings_;
  std::string prefix_;
  std::uint64_t aggregators_;
  std::uint64_t window_;
  std::uint64_t align_;
  std::uint64_t node_ranks_;
  std::uint64_t writers_;
  std::uint64_t holes_;
  bool keep_;

  std::string path_;
  std::map<std::string, std::string> hints_in_effect_;
};

}  // namespace slabmark
