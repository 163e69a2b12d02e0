#include "bench/pattern/transfer_pieces.hpp"

#include <algorithm>
#include <random>
#include <utility>

#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace slabmark {
namespace {

using Pairs = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

std::vector<std::uint64_t> elements_of(const Selection& selection) {
  std::vector<std::uint64_t> elements;
  selection.for_each_run([&](Run run) {
    for (std::uint64_t i = run.offset; i < run.end(); ++i) elements.push_back(i);
  });
  return elements;
}

/// Which element of the file goes with which of the buffer, element by element.
Pairs pairs_by_definition(const Transfer& transfer) {
  const std::vector<std::uint64_t> file = elements_of(*transfer.file);
  Pairs pairs;
  for (std::uint64_t i = 0; i < file.size(); ++i) pairs.emplace_back(file[i], i);
  if (!transfer.buffer) return pairs;
  const std::vector<std::uint64_t> buffer = elements_of(*transfer.buffer);
  for (std::uint64_t i = 0; i < file.size(); ++i) pairs[i].second = buffer[i];
  return pairs;
}

Pairs pairs_of(const std::vector<Piece>& pieces) {
  Pairs pairs;
  for (const Piece& piece : pieces) {
    for (std::uint64_t i = 0; i < piece.length; ++i) {
      pairs.emplace_back(piece.file + i, piece.buffer + i);
    }
  }
  return pairs;
}

std::vector<Piece> pieces_of(const Transfer& transfer) {
  std::vector<Piece> pieces;
  for_each_piece(transfer, [&](const Piece& piece) { pieces.push_back(piece); });
  return pieces;
}

TEST(Pieces, OfADenseBufferFollowOneAnotherInMemory) {
  const std::vector<Piece> pieces =
      pieces_of({0, 0, select_row_runs({20}, {{9, 3}, {2, 4}}), nullptr});
  ASSERT_EQ(pieces.size(), 2u);
  EXPECT_EQ(pieces[1].file, 2u);
  EXPECT_EQ(pieces[1].buffer, 3u);
  EXPECT_EQ(pieces[1].length, 4u);
}

TEST(Pieces, EndWhereFileOrBufferIsNotContiguous) {
  const SelectionPtr file = select_hyperslabs({4, 6}, {make_box({1, 1}, {2, 4})});
  const SelectionPtr buffer = select_hyperslabs({20}, {make_box({15}, {3}), make_box({1}, {5})});
  const Transfer transfer{0, 0, file, buffer};
  const std::vector<Piece> pieces = pieces_of(transfer);
  EXPECT_EQ(pairs_of(pieces), pairs_by_definition(transfer));
  EXPECT_EQ(pieces.size(), 3u);
}

TEST(Pieces, InFileOrderAreMergedWhereTheyTouchInFileAndBuffer) {
  const std::vector<Piece> joined =
      pieces_in_file_order({0, 0, select_row_runs({3, 4}, {{0, 4}, {4, 4}, {9, 1}}), nullptr});
  ASSERT_EQ(joined.size(), 2u);
  EXPECT_EQ(joined[0].length, 8u);
  const std::vector<Piece> apart =
      pieces_in_file_order({0, 0, select_row_runs({3, 4}, {{4, 4}, {0, 4}}), nullptr});
  ASSERT_EQ(apart.size(), 2u);
  EXPECT_EQ(apart[0].buffer, 4u);
}

TEST(Pieces, AreRefusedIfFileAndBufferSelectDifferentlyMany) {
  EXPECT_THROW(pieces_of({0, 0, select_all({5}), select_all({6})}), InputError);
}

TEST(Pieces, OfNothingAreNone) {
  EXPECT_TRUE(pieces_of({0, 0, select_none({5}), nullptr}).empty());
  EXPECT_TRUE(pieces_in_file_order({0, 0, select_none({5}), select_none({9, 9})}).empty());
}

/// Disjoint hyperslabs of a matrix in random order: its rows are cut into spans that are shuffled.
std::vector<Hyperslab> random_spans(std::mt19937_64& random, std::uint64_t rows,
                                    std::uint64_t columns, std::uint64_t elements) {
  std::vector<Hyperslab> spans;
  for (std::uint64_t row = 0; row < rows && elements > 0; ++row) {
    std::uint64_t left = std::min(columns, elements);
    elements -= left;
    for (std::uint64_t column = 0; left > 0;) {
      const std::uint64_t width = 1 + random() % left;
      spans.push_back(make_box({row, column}, {1, width}));
      column += width;
      left -= width;
    }
  }
  std::shuffle(spans.begin(), spans.end(), random);
  return spans;
}

TEST(Pieces, PairFileAndBufferElementByElement) {
  std::mt19937_64 random(31);
  for (int trial = 0; trial < 300; ++trial) {
    const std::uint64_t elements = 1 + random() % 40;
    const Transfer transfer{0, 0, select_hyperslabs({10, 7}, random_spans(random, 10, 5, elements)),
                            select_hyperslabs({20, 4}, random_spans(random, 20, 3, elements))};
    ASSERT_EQ(transfer.file->element_count(), elements);
    EXPECT_EQ(pairs_of(pieces_of(transfer)), pairs_by_definition(transfer));

    Pairs sorted = pairs_by_definition(transfer);
    std::sort(sorted.begin(), sorted.end());
    const std::vector<Piece> in_order = pieces_in_file_order(transfer);
    EXPECT_EQ(pairs_of(in_order), sorted);
    for (std::size_t i = 1; i < in_order.size(); ++i) {
      const Piece& last = in_order[i - 1];
      EXPECT_FALSE(last.file + last.length == in_order[i].file &&
                   last.buffer + last.length == in_order[i].buffer);
    }
  }
}

}  // namespace
}  // namespace slabmark
