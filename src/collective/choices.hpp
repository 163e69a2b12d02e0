#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "collective/exchange/rearranger.hpp"
#include "storage/mpiio/info.hpp"

namespace slabmark::rearrange {

/// What a user asks for; nothing: what suits the file.
struct Options {
  std::string prefix;  ///< of the names of these options, for texts: "pnetcdf."
  std::optional<std::uint64_t> aggregators, window, align, writers;
  std::uint64_t node_ranks = 0;
  std::uint64_t holes = RearrangerSettings{}.bridged_hole;
};

/// Settings in effect for a file, and what each follows from.
class Choices {
 public:
  Choices() = default;
  /// `user`: hints that were asked for; `in_effect`: those of the open file, which is at `path`.
  Choices(const Options& options, const mpiio::Hints& user, std::string path,
          std::map<std::string, std::string> in_effect);

  struct Choice {
    std::uint64_t value;
    std::string from;  ///< "hint striping_unit", "option pnetcdf.align"
  };
  Choice alignment() const;    ///< of aggregators' ranges, in bytes
  Choice aggregators() const;  ///< 0: as many as nodes, cores and stripes suggest
  RearrangerSettings for_rearranger() const;
  const std::map<std::string, std::string>& hints_in_effect() const { return in_effect_; }

 private:
  /// What is in effect, else what the user asked for.
  std::uint64_t effective_hint(const std::string& name, std::uint64_t default_value) const;

  Options options_;
  std::map<std::string, std::string> user_, in_effect_;
  std::string path_;
};

}  // namespace slabmark::rearrange
