#include "collective/exchange/move_elements.hpp"

#include <algorithm>
#include <cstring>

namespace slabmark {

namespace {

std::uint64_t offset_of(const Run& run) { return run.offset; }
std::uint64_t offset_of(const Piece& piece) { return piece.file; }

template <class Interval>
std::span<const Interval> touching(std::span<const Interval> sorted, Run part) {
  const auto first =
      std::partition_point(sorted.begin(), sorted.end(), [&](const Interval& interval) {
        return offset_of(interval) + interval.length <= part.offset;
      });
  const auto last = std::partition_point(first, sorted.end(), [&](const Interval& interval) {
    return offset_of(interval) < part.end();
  });
  return {first, last};
}

template <class Interval>
std::uint64_t count_touching(std::span<const Interval> sorted, Run part) {
  std::uint64_t count = 0;
  for (const Interval& interval : touching(sorted, part)) {
    count += std::min(offset_of(interval) + interval.length, part.end()) -
             std::max(offset_of(interval), part.offset);
  }
  return count;
}

std::uint16_t swapped(std::uint16_t value) { return __builtin_bswap16(value); }
std::uint32_t swapped(std::uint32_t value) { return __builtin_bswap32(value); }
std::uint64_t swapped(std::uint64_t value) { return __builtin_bswap64(value); }

// Runs of an atmosphere's columns have two elements on average, so a call of memcpy for each would
// cost more than the elements.
constexpr std::uint64_t worth_memcpy = 128;

template <class Word, bool swap>
inline void copy_words(std::byte* to, const std::byte* from, std::uint64_t count) {
  if (!swap && count * sizeof(Word) >= worth_memcpy) {
    std::memcpy(to, from, count * sizeof(Word));
    return;
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    Word word;  // neither side need be aligned
    std::memcpy(&word, from + i * sizeof(Word), sizeof(Word));
    if constexpr (swap) word = swapped(word);
    std::memcpy(to + i * sizeof(Word), &word, sizeof(Word));
  }
}

/// Moves the clipped pieces; `packed` says that the file's side has no gaps. Returns its end.
template <class Word, bool swap, bool packed>
std::byte* move_pieces(std::span<const Piece> pieces, Run part, Flow flow, std::byte* buffer,
                       std::byte* other) {
  for (const Piece& piece : touching(pieces, part)) {
    const std::uint64_t begin = std::max(piece.file, part.offset);
    const std::uint64_t count = std::min(piece.file + piece.length, part.end()) - begin;
    std::byte* const mine = buffer + (piece.buffer + (begin - piece.file)) * sizeof(Word);
    std::byte* const its = packed ? other : other + (begin - part.offset) * sizeof(Word);
    if (flow == Flow::to_file) {
      copy_words<Word, swap>(its, mine, count);
    } else {
      copy_words<Word, swap>(mine, its, count);
    }
    if (packed) other += count * sizeof(Word);
  }
  return other;
}

template <bool packed, class... Arguments>
std::byte* move_as(ElementForm form, Arguments... arguments) {
  switch (form.bytes) {
    case 1:
      return move_pieces<std::uint8_t, false, packed>(arguments...);
    case 2:
      return form.swap ? move_pieces<std::uint16_t, true, packed>(arguments...)
                       : move_pieces<std::uint16_t, false, packed>(arguments...);
    case 4:
      return form.swap ? move_pieces<std::uint32_t, true, packed>(arguments...)
                       : move_pieces<std::uint32_t, false, packed>(arguments...);
    default:
      return form.swap ? move_pieces<std::uint64_t, true, packed>(arguments...)
                       : move_pieces<std::uint64_t, false, packed>(arguments...);
  }
}

}  // namespace

void move_in_place(std::span<const Piece> pieces, Run part, ElementForm form, std::byte* buffer,
                   std::byte* place) {
  move_as<false>(form, pieces, part, form.flow, buffer, place);
}

std::byte* move_packed(std::span<const Piece> pieces, Run part, ElementForm form, std::byte* buffer,
                       std::byte* packed) {
  return move_as<true>(form, pieces, part, form.flow, buffer, packed);
}

std::uint64_t count_in(std::span<const Piece> pieces, Run part) {
  return count_touching(pieces, part);
}

std::byte* move_runs(std::span<const Run> runs, Run part, ElementForm form, std::byte* packed,
                     std::byte* place) {
  for (const Run& run : touching(runs, part)) {
    const std::uint64_t begin = std::max(run.offset, part.offset);
    const std::uint64_t bytes = (std::min(run.end(), part.end()) - begin) * form.bytes;
    std::byte* const there = place + (begin - part.offset) * form.bytes;
    if (form.flow == Flow::to_file) {
      std::memcpy(there, packed, bytes);
    } else {
      std::memcpy(packed, there, bytes);
    }
    packed += bytes;
  }
  return packed;
}

std::uint64_t count_in(std::span<const Run> runs, Run part) { return count_touching(runs, part); }

std::span<const Run> within(std::span<const Run> sorted, Run part) {
  return touching(sorted, part);
}

}  // namespace slabmark
