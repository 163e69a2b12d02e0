#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/geometry/piece.hpp"
#include "core/geometry/run.hpp"

namespace slabmark {

/// The direction of elements between the buffer of a rank and the file's side.
enum class Flow { to_file, from_file };

/// How the elements of one array are moved.
struct ElementForm {
  std::uint64_t bytes = 1;    ///< of one element: 1, 2, 4 or 8
  bool swap = false;          ///< the file has the other byte order
  Flow flow = Flow::to_file;  ///< from the buffer, or into it
};

/// Moves the elements of `pieces` (ascending in the file) that lie in `part` of an array between
/// `buffer` and `place`, the address of the array's element part.offset.
void move_in_place(std::span<const Piece> pieces, Run part, ElementForm form, std::byte* buffer,
                   std::byte* place);

/// The same, but at `packed` the elements stand one after another. Returns the end of them.
std::byte* move_packed(std::span<const Piece> pieces, Run part, ElementForm form, std::byte* buffer,
                       std::byte* packed);

/// Elements of `pieces` in `part`.
std::uint64_t count_in(std::span<const Piece> pieces, Run part);

/// Moves the elements of `runs` (sorted) that lie in `part` between `packed`, where they stand one
/// after another, and `place`, where element part.offset is; no bytes are swapped. Returns the end
/// of the packed ones.
std::byte* move_runs(std::span<const Run> runs, Run part, ElementForm form, std::byte* packed,
                     std::byte* place);

/// Elements of `runs` in `part`.
std::uint64_t count_in(std::span<const Run> runs, Run part);

/// The runs that have an element in `part`; the first and the last may reach beyond it.
std::span<const Run> within(std::span<const Run> sorted, Run part);

}  // namespace slabmark
