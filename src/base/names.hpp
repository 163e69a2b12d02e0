#pragma once

#include <cstddef>
#include <string_view>

namespace slabmark {

/// The word for a value of an enumeration whose values count from 0, in the order of `names`.
template <class Enum, std::size_t N>
constexpr std::string_view name_in(const std::string_view (&names)[N], Enum value) {
  const auto place = static_cast<std::size_t>(value);
  return place < N ? names[place] : "unknown";
}

}  // namespace slabmark
