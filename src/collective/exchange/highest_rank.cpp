#include "collective/exchange/highest_rank.hpp"

#include "collective/exchange/move_elements.hpp"
#include "collective/exchange/range_plan.hpp"

namespace slabmark {

std::vector<std::vector<Piece>> pieces_that_count(const Comm& comm,
                                                  std::span<const HeldArray> arrays) {
  // All arrays' elements on one line.
  std::uint64_t end = 0;
  RunList held;
  for (const HeldArray& array : arrays) {
    for (const Piece& piece : array.pieces) append(held, {end + piece.file, piece.length});
    end += array.elements;
  }
  const RunList counted = RangePlan(&comm, std::move(held), end).counted();

  std::vector<std::vector<Piece>> result;
  std::uint64_t begin = 0;
  for (const HeldArray& array : arrays) {
    auto& pieces = result.emplace_back();
    for (const Piece& piece : array.pieces) {
      const Run whole{begin + piece.file, piece.length};
      for (const Run& run : within(counted, whole)) {
        const Run part = common_part(run, whole);
        pieces.push_back(
            {part.offset - begin, piece.buffer + (part.offset - whole.offset), part.length});
      }
    }
    begin += array.elements;
  }
  return result;
}

}  // namespace slabmark
