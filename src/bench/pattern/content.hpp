#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "bench/pattern/pattern.hpp"

namespace slabmark {

/// The verified contents are a closed form of (dataset, time, element), so any rank can check any
/// element without knowing who wrote it. Values are hashes (splitmix64: G. L. Steele, D. Lea and
/// C. H. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014) cut to what the
/// element type holds exactly (24 bits in float32, 53 in float64), so no conversion on the way can
/// hide a misplaced element. Buffers need no alignment.

/// An element that does not hold what it should.
struct Mismatch {
  std::size_t dataset = 0;
  std::uint64_t time = 0;
  std::uint64_t element = 0;  ///< row-major
  std::string expected;
  std::string found;
  std::uint64_t count = 0;   ///< number of wrong elements in all, this being the first
  bool is_outdated = false;  ///< it holds what make_outdated() makes of what is expected
};

/// Contents of a pattern's own, in place of the hashes: those of a program that has always written
/// certain values, or of a user's function. Also a closed form, so that any rank can check any
/// element. Comparisons are bit for bit, hence the same element must always get the same bits,
/// whatever box it is asked for with.
class Content {
 public:
  virtual ~Content() = default;

  /// Stores the elements of the box [start, start + count) of one dataset at `out`, row-major and
  /// densely. Throws an Error where that cannot be done.
  virtual void fill(std::size_t dataset, std::uint64_t time, const Extent& start,
                    const Extent& count, std::byte* out) const = 0;

  /// True if time changes nothing, so that a buffer can serve several rounds.
  virtual bool same_at_all_times() const { return false; }
};

/// Stores the expected contents of the elements `run` of one dataset at `out`.
void fill_run(ElementType type, std::size_t dataset, std::uint64_t time, Run run, std::byte* out);

/// Compares `run.length` elements at `in` with the expected contents. An empty result is a match.
std::optional<Mismatch> check_run(ElementType type, std::size_t dataset, std::uint64_t time,
                                  Run run, const std::byte* in);

/// The same with the contents of `pattern`, its own ones where it has them.
std::optional<Mismatch> check_run(const Pattern& pattern, std::size_t dataset, std::uint64_t time,
                                  Run run, const std::byte* in);

/// Fills the buffer behind `transfer` with the expected contents; bytes of the buffer that do not
/// move get gap_byte, so that a gap which does reach the file shows.
void fill_buffer(const Pattern& pattern, const Transfer& transfer, std::byte* buffer);

/// Makes contents into those of an earlier call, whose elements a later one writes again: they tell
/// whether the order of calls was kept. Each byte changes in its lowest bit, so that numbers stay
/// finite and texts printable.
void make_outdated(std::span<std::byte> contents);

/// Checks a buffer that was read. Bytes outside the selection are not looked at.
std::optional<Mismatch> check_buffer(const Pattern& pattern, const Transfer& transfer,
                                     const std::byte* buffer);

/// Byte that fill_buffer() leaves where nothing moves.
inline constexpr std::byte gap_byte{0xA5};

/// One sentence: which element of which dataset holds what instead of what.
std::string describe(const Mismatch& mismatch, const Pattern& pattern);

}  // namespace slabmark
