#pragma once

#include <array>

#include "bench/pattern/pattern.hpp"
#include "core/base/words.hpp"

namespace slabmark {

/// The part of one dataset that a program reads which looks into a finished file.
enum class ReadShape {
  series,  ///< one element, at all times
  level,   ///< in the middle of time and of the slowest dimension: one position of that
  field,   ///< in the middle of time: all of it
};

inline constexpr std::array<Word<ReadShape>, 3> read_shapes = {
    {{"series", ReadShape::series}, {"level", ReadShape::level}, {"field", ReadShape::field}}};

/// The pattern of such a reader of the first dataset of `written`; other ranks (`reads` false)
/// select nothing. A series is that of the first element that this rank has written. Throws
/// InputError where `written` goes to several files, or this rank has no element.
Pattern make_read_pattern(const Pattern& written, ReadShape shape, bool reads);

/// How many elements of its first dataset the rank has in the first round: over all ranks as many
/// as it has, unless there are holes.
std::uint64_t elements_of_first(const Pattern& pattern);

}  // namespace slabmark
