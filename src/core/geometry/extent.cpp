#include "core/geometry/extent.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.hpp"

namespace slabmark {

std::uint64_t element_count(const Extent& extent) {
  constexpr std::uint64_t most = (std::uint64_t{1} << 63) - 1;
  if (std::find(extent.begin(), extent.end(), 0u) != extent.end()) return 0;
  std::uint64_t count = 1;
  for (const std::uint64_t length : extent) {
    if (length > most / count) {
      throw InputError(fmt::format(
          "An array of {} has more elements than fit in 63 bits, the largest offset that the file "
          "libraries can express; make it smaller.",
          to_string(extent)));
    }
    count *= length;
  }
  return count;
}

std::string to_string(const Extent& extent) {
  return extent.empty() ? "scalar" : fmt::format("{}", fmt::join(extent, " x "));
}

}  // namespace slabmark
