#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "bench/method/options.hpp"
#include "collective/settings.hpp"

namespace slabmark {

struct RearrangedOptions : collective::Options {
  bool keep = true;
  bool reuse_definition = true;
  bool overlap = false;
  std::optional<std::uint64_t> overlap_memory;
};

/// Options of a rearranged method, under the prefix of its library ("pnetcdf").
OptionTable<RearrangedOptions> rearranged_options(const std::string& prefix);

/// Reads the options that were given. Throws InputError for values that they do not accept.
RearrangedOptions read_rearranged_options(const Settings& settings, const std::string& prefix);

}  // namespace slabmark
