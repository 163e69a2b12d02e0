#include "core/geometry/piece.hpp"

#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slabmark {
namespace {

using Numbers = std::vector<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>>;

Numbers numbers_of(const std::vector<Piece>& pieces) {
  Numbers all;
  for (const Piece& piece : pieces) all.emplace_back(piece.file, piece.buffer, piece.length);
  return all;
}

TEST(Pieces, AreMergedOnlyWhereTheyTouchInFileAndBuffer) {
  const std::vector<Piece> given = {{0, 10, 2}, {2, 12, 3}, {5, 20, 1}, {7, 21, 1}, {8, 22, 2}};
  const Numbers expected = {{0, 10, 5}, {5, 20, 1}, {7, 21, 3}};
  std::vector<Piece> appended;
  for (const Piece& piece : given) append(appended, piece);
  EXPECT_EQ(numbers_of(appended), expected);
  std::vector<Piece> coalesced = given;
  coalesce(coalesced);
  EXPECT_EQ(numbers_of(coalesced), expected);
}

}  // namespace
}  // namespace slabmark
