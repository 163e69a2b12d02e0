#include "convert/contents.hpp"

#include <algorithm>
#include <tuple>

namespace slabmark::convert {

bool is_same_variable(const FileVariable& a, const FileVariable& b) {
  const auto described = [](const FileVariable& one) {
    return std::tie(one.name, one.type, one.dimensions, one.attributes);
  };
  return described(a) == described(b);
}

Extent FileContents::extent_of(const FileVariable& variable) const {
  Extent extent;
  for (const std::size_t d : variable.dimensions) extent.push_back(dimensions[d].length);
  return extent;
}

bool FileContents::is_unlimited(const FileVariable& variable) const {
  return std::ranges::any_of(variable.dimensions,
                             [&](std::size_t d) { return dimensions[d].is_unlimited; });
}

std::uint64_t FileContents::bytes() const {
  std::uint64_t bytes = 0;
  for (const FileVariable& variable : variables) {
    bytes += element_count(extent_of(variable)) * size_of(variable.type);
  }
  return bytes;
}

std::optional<std::size_t> coordinate_dimension(const FileContents& contents,
                                                const FileVariable& variable) {
  if (variable.dimensions.empty()) return std::nullopt;
  const std::size_t slowest = variable.dimensions.front();
  if (contents.dimensions[slowest].name != variable.name) return std::nullopt;
  return slowest;
}

}  // namespace slabmark::convert
