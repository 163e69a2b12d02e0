#include "bench/pattern/transfer_pattern.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "bench/pattern/transfer_pieces.hpp"
#include "core/base/error.hpp"

namespace slabmark {
namespace {

/// What a figure of the guide shows: for every byte of the first dataset, as it lies in the file,
/// the rank that owns it and the request that moves it.
struct Figure {
  std::string owner;
  std::string request;
  std::uint64_t pieces = 0;  ///< of rank 0
};

Figure draw(const TransferGeometry& geometry, std::uint64_t ranks) {
  Figure figure;
  figure.owner = figure.request = std::string(dataset_bytes(geometry, ranks), '.');
  for (std::uint64_t rank = 0; rank < ranks; ++rank) {
    const Pattern pattern = make_transfer_pattern(geometry, rank, ranks);
    for (std::uint64_t k = 0; k < requests_per_dataset(geometry, ranks); ++k) {
      const auto transfers = pattern.transfers(k);
      for_each_piece(transfers.front(), [&](const Piece& piece) {
        if (rank == 0) ++figure.pieces;
        for (std::uint64_t i = piece.file; i < piece.file + piece.length; ++i) {
          EXPECT_EQ(figure.owner[i], '.') << "byte " << i << " is written twice";
          figure.owner[i] = static_cast<char>('0' + rank);
          figure.request[i] = static_cast<char>('0' + k);
        }
      });
    }
  }
  return figure;
}

TransferGeometry geometry(std::uint64_t bytes, std::uint64_t block, std::uint64_t buffer) {
  TransferGeometry g;
  g.bytes = bytes;
  g.block = block;
  g.buffer = buffer;
  return g;
}

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST(TransferPatterns, DrawFigure2) {
  const Figure figure = draw(geometry(8, 2, 4), 3);
  EXPECT_EQ(figure.owner, "000000001111111122222222");
  EXPECT_EQ(figure.request, "000011110000111100001111");
  EXPECT_EQ(figure.pieces, 2u) << "one for each request";
}

TEST(TransferPatterns, DrawFigure3) {
  auto g = geometry(8, 2, 4);
  g.interleaved = true;
  const Figure figure = draw(g, 3);
  EXPECT_EQ(figure.owner, "001122001122001122001122");
  EXPECT_EQ(figure.request, "000000000000111111111111");
  EXPECT_EQ(figure.pieces, 4u) << "4 / 2 = 2 for each request";
}

TEST(TransferPatterns, DrawFigures5And6) {
  auto g = geometry(4, 2, 12);
  g.two_dimensional = true;
  const Figure figure = draw(g, 3);
  EXPECT_EQ(figure.owner, repeated("0", 48) + repeated("1", 48) + repeated("2", 48));
  EXPECT_EQ(figure.request, repeated(repeated("0", 24) + repeated("1", 24), 3));
  EXPECT_EQ(figure.pieces, 2u) << "a buffer as wide as the dataset moves in one piece";
}

TEST(TransferPatterns, DrawFigures7And8) {
  auto g = geometry(4, 2, 12);
  g.two_dimensional = g.interleaved = true;
  const Figure figure = draw(g, 3);
  EXPECT_EQ(figure.owner, repeated("001122001122", 12));
  EXPECT_EQ(figure.request, repeated("000000111111", 12));
  EXPECT_EQ(figure.pieces, 24u) << "12 small pieces for each request";
}

TEST(TransferPatterns, DrawFigure10) {
  auto g = geometry(8, 4, 4);
  g.two_dimensional = true;
  const Figure figure = draw(g, 2);
  EXPECT_EQ(figure.owner, repeated("0", 128) + repeated("1", 128));
  EXPECT_EQ(figure.request,
            repeated(repeated("0000111122223333", 4) + repeated("4444555566667777", 4), 2));
  EXPECT_EQ(figure.pieces, 8u * 4u) << "4 pieces of 4 bytes for each request";
}

TEST(TransferPatterns, DrawFigure11WithOnePieceARequest) {
  auto g = geometry(4, 4, 4);
  g.two_dimensional = true;
  g.storage = TransferStorage::emulated;
  const Figure figure = draw(g, 2);
  EXPECT_EQ(figure.owner, repeated("0", 32) + repeated("1", 32));
  EXPECT_EQ(figure.request, repeated(repeated("0", 16) + repeated("1", 16), 2));
  EXPECT_EQ(figure.pieces, 2u);
}

TEST(TransferPatterns, CutAWideBufferAtTheChunksAsHdf5Does) {
  auto g = geometry(4, 2, 8);
  g.two_dimensional = true;
  g.storage = TransferStorage::emulated;
  const Pattern pattern = make_transfer_pattern(g, 0, 2);
  std::vector<Piece> pieces = pieces_in_file_order(pattern.transfers(0).front());
  ASSERT_EQ(pieces.size(), 4u * 2u) << "2 rows of each of 4 chunks";
  for (std::uint64_t chunk = 0; chunk < 4; ++chunk) {
    for (std::uint64_t row = 0; row < 2; ++row) {
      const Piece& piece = pieces[2 * chunk + row];
      EXPECT_EQ(piece.file, 4 * chunk + 2 * row);
      EXPECT_EQ(piece.buffer, 8 * row + 2 * chunk);
      EXPECT_EQ(piece.length, 2u);
    }
  }
  g.storage = TransferStorage::emulated_in_chunk_order;
  pieces = pieces_in_file_order(make_transfer_pattern(g, 0, 2).transfers(0).front());
  EXPECT_EQ(pieces.size(), 1u) << "the original's emulation writes the buffer as it lies";
}

TEST(TransferPatterns, MoveEachDatasetAfterTheOther) {
  auto g = geometry(8, 2, 4);
  g.datasets = 3;
  const Pattern pattern = make_transfer_pattern(g, 1, 2);
  EXPECT_EQ(pattern.rounds, 6u);
  EXPECT_EQ(pattern.datasets[2].name, "Dataset_3");
  EXPECT_EQ(pattern.transfers(5).front().dataset, 2u);
  EXPECT_EQ(moved_bytes(pattern), 24u);
}

TEST(TransferPatterns, RefuseSizesThatDoNotDivide) {
  EXPECT_THROW(check(geometry(8, 3, 4), 1), InputError) << "buffer and block";
  EXPECT_THROW(check(geometry(10, 2, 4), 1), InputError) << "bytes and buffer";
  EXPECT_THROW(check(geometry(8, 2, 0), 1), InputError);
  auto g = geometry(6, 4, 4);
  g.two_dimensional = true;
  EXPECT_THROW(check(g, 2), InputError) << "2-D bytes and block: ranks would share rows";
  g = geometry(4, 2, 8);
  g.two_dimensional = true;
  EXPECT_THROW(check(g, 3), InputError) << "side 12 and buffer 8";
  EXPECT_NO_THROW(check(g, 2));
}

TEST(TransferPatterns, RefuseDatasetsBeyond63Bits) {
  auto g = geometry(std::uint64_t{1} << 40, 1, 1);
  EXPECT_NO_THROW(check(g, 4));
  g.two_dimensional = true;
  EXPECT_THROW(check(g, 4), InputError);
  g = geometry(std::uint64_t{1} << 62, 1, 1);
  EXPECT_THROW(check(g, 4), InputError);
}

}  // namespace
}  // namespace slabmark
