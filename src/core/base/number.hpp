#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace slabmark {

/// Parses a whole decimal number in [min, max]. `what` names the value in the error message, for
/// example "-n" or "number of variables". Throws InputError for anything but digits (a leading '-'
/// is reported as out of range, blanks and trailing characters are errors).
std::uint64_t parse_count(std::string_view text, std::string_view what, std::uint64_t min = 0,
                          std::uint64_t max = std::numeric_limits<std::uint64_t>::max());

/// Parses a size in bytes: a whole number with an optional suffix K, M, G or T (either case) for
/// 2^10, 2^20, 2^30, 2^40. Throws InputError as parse_count does, and on overflow.
std::uint64_t parse_size(std::string_view text, std::string_view what);

/// a * b, or the largest number there is where that is more.
std::uint64_t product_or_most(std::uint64_t a, std::uint64_t b);

/// Parses three whole numbers with commas or x between them, each at least `min`, for example
/// "2,1,4" or "2x1x4". Throws InputError.
std::array<std::uint64_t, 3> parse_triple(std::string_view text, std::string_view what,
                                          std::uint64_t min = 1);

/// Parses a finite number >= min, for example seconds. Throws InputError.
double parse_real(std::string_view text, std::string_view what, double min = 0.0);

/// "266.98 MiB": two decimals in the largest binary unit that keeps the number at 1 or more; bytes
/// as they are ("512 B").
std::string format_bytes(std::uint64_t bytes);

}  // namespace slabmark
