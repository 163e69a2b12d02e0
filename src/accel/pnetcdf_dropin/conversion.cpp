#include "accel/pnetcdf_dropin/conversion.hpp"

#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

namespace slabmark::dropin {

namespace {

// Integers become floating point whatever they lose, as in PnetCDF.
template <class From, class To>
constexpr bool always() {
  if constexpr (std::is_floating_point_v<To>) {
    return !std::is_same_v<From, double> || std::is_same_v<To, double>;
  } else if constexpr (std::is_floating_point_v<From>) {
    return false;
  } else {
    return std::in_range<To>(std::numeric_limits<From>::min()) &&
           std::in_range<To>(std::numeric_limits<From>::max());
  }
}

template <class To, class From>
bool fits(From value) {
  if constexpr (std::is_floating_point_v<To>) {
    return std::isnan(value) ||
           (value <= std::numeric_limits<To>::max() && value >= std::numeric_limits<To>::lowest());
  } else if constexpr (std::is_floating_point_v<From>) {
    // The largest integers are no floating point numbers: what is rounded to them is left alone.
    constexpr auto end = static_cast<From>(std::numeric_limits<To>::max() / 2 + 1) * 2;
    return value >= static_cast<From>(std::numeric_limits<To>::min()) && value <= end - 1 &&
           value < end;
  } else {
    return std::in_range<To>(value);
  }
}

template <class From, class To>
bool convert_elements(const void* source, void* target, std::uint64_t count) {
  const auto* from = static_cast<const std::byte*>(source);
  auto* to = static_cast<std::byte*>(target);
  for (std::uint64_t i = 0; i < count; ++i, from += sizeof(From), to += sizeof(To)) {
    From value;  // neither side need be aligned
    std::memcpy(&value, from, sizeof value);
    if constexpr (!always<From, To>()) {
      if (!fits<To>(value)) return false;
    }
    const To converted = static_cast<To>(value);
    std::memcpy(to, &converted, sizeof converted);
  }
  return true;
}

/// Calls visit(a value of the type) for a type of numbers.
template <class Visit>
bool with_number(ElementType type, const Visit& visit) {
  return with_type(type, [&](auto value) {
    if constexpr (std::is_same_v<decltype(value), char>) {
      return false;
    } else {
      return visit(value);
    }
  });
}

}  // namespace

bool always_fits(ElementType from, ElementType to) {
  if (from == to) return true;
  return with_number(from, [to](auto source) {
    return with_number(to,
                       [](auto target) { return always<decltype(source), decltype(target)>(); });
  });
}

bool convert(ElementType from, const void* source, ElementType to, void* target,
             std::uint64_t count) {
  if (from == to) {
    std::memcpy(target, source, count * size_of(from));
    return true;
  }
  return with_number(from, [&](auto value) {
    return with_number(to, [&](auto converted) {
      return convert_elements<decltype(value), decltype(converted)>(source, target, count);
    });
  });
}

}  // namespace slabmark::dropin
