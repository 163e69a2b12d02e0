#include "core/base/number.hpp"

#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "core/base/error.hpp"

namespace slabmark {
namespace {

bool all_digits(std::string_view text) {
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
  }
  return !text.empty();
}

[[noreturn]] void reject(std::string_view what, std::string_view text, std::string_view reason,
                         std::string_view remedy) {
  throw InputError(fmt::format("{} is \"{}\", which {}; give {}.", what, text, reason, remedy));
}

/// "a whole number from 1 to 8".
std::string range_of(std::uint64_t min, std::uint64_t max) {
  if (max == std::numeric_limits<std::uint64_t>::max()) {
    return fmt::format("a whole number of at least {}", min);
  }
  return fmt::format("a whole number from {} to {}", min, max);
}

/// Power of 1024 that a suffix stands for; 0 for anything else.
unsigned power_of_suffix(char suffix) {
  switch (std::toupper(static_cast<unsigned char>(suffix))) {
    case 'K':
      return 1;
    case 'M':
      return 2;
    case 'G':
      return 3;
    case 'T':
      return 4;
    default:
      return 0;
  }
}

}  // namespace

std::uint64_t parse_count(std::string_view text, std::string_view what, std::uint64_t min,
                          std::uint64_t max) {
  const std::string remedy = range_of(min, max);
  const bool negative = text.size() > 1 && text.front() == '-' && all_digits(text.substr(1));
  if (negative) reject(what, text, "is out of range", remedy);
  if (!all_digits(text)) reject(what, text, "is not a whole number", remedy);
  std::uint64_t value = 0;
  const auto [_, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || value < min || value > max) {
    reject(what, text, "is out of range", remedy);
  }
  return value;
}

std::uint64_t parse_size(std::string_view text, std::string_view what) {
  constexpr std::string_view remedy =
      "a whole number of bytes below 16 EiB, with K, M, G or T behind it for powers of 1024";
  const unsigned power = text.empty() ? 0 : power_of_suffix(text.back());
  const std::string_view digits = power > 0 ? text.substr(0, text.size() - 1) : text;
  if (!all_digits(digits)) reject(what, text, "is not a size", remedy);
  std::uint64_t value = 0;
  const auto [_, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const std::uint64_t unit = std::uint64_t{1} << (10 * power);
  if (error != std::errc{} || value > std::numeric_limits<std::uint64_t>::max() / unit) {
    reject(what, text, "is too large", remedy);
  }
  return value * unit;
}

std::array<std::uint64_t, 3> parse_triple(std::string_view text, std::string_view what,
                                          std::uint64_t min) {
  const char separator = text.find('x') == std::string_view::npos ? ',' : 'x';
  std::array<std::uint64_t, 3> triple{};
  auto rest = text;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto end = rest.find(separator);
    if ((end == std::string_view::npos) != (i == 2)) {
      reject(what, text, "is not three numbers", "three such as 2,1,4 or 2x1x4");
    }
    triple[i] = parse_count(rest.substr(0, end), what, min);
    rest.remove_prefix(i == 2 ? rest.size() : end + 1);
  }
  return triple;
}

double parse_real(std::string_view text, std::string_view what, double min) {
  const std::string remedy = fmt::format("a finite decimal number of at least {}", min);
  double value = 0.0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc::result_out_of_range) reject(what, text, "is out of range", remedy);
  // from_chars also takes "inf" and "nan".
  if (error != std::errc{} || stop != end || !std::isfinite(value)) {
    reject(what, text, "is not a number", remedy);
  }
  if (value < min) reject(what, text, "is out of range", remedy);
  return value;
}

std::string format_bytes(std::uint64_t bytes) {
  constexpr std::array units = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t power = 0;
  while (power + 1 < units.size() && (bytes >> (10 * (power + 1))) > 0) ++power;
  if (power == 0) return fmt::format("{} B", bytes);
  return fmt::format("{:.2f} {}",
                     std::ldexp(static_cast<double>(bytes), -10 * static_cast<int>(power)),
                     units[power]);
}

std::uint64_t product_or_most(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<std::uint64_t>::max()
                                                : product;
}

}  // namespace slabmark
