#include "bench/harness/verify.hpp"

#include <fstream>
#include <vector>

#include <gtest/gtest.h>

#include "bench/pattern/content.hpp"
#include "scratch.hpp"

namespace slabmark {
namespace {

constexpr std::uint64_t rows = 6;
constexpr std::uint64_t columns = 7;

// Rank r owns row r; row 5 and the rows beyond the ranks belong to nobody.
Pattern some_rows(int rank) {
  Pattern pattern;
  pattern.name = "some rows";
  pattern.datasets = {{"u", ElementType::float64, {{"row", rows}, {"column", columns}}, false, {}}};
  const auto row = static_cast<std::uint64_t>(rank);
  const SelectionPtr mine = select_row_runs({rows, columns}, {{row * columns, columns}});
  pattern.transfers = [mine](std::uint64_t) {
    return std::vector<Transfer>{{0, 0, mine, nullptr}};
  };
  return pattern;
}

// A raw file that holds the right contents everywhere, except that byte `flipped` is wrong.
void write_raw(const Comm& comm, const std::string& path, std::int64_t flipped) {
  if (comm.is_root()) {
    std::vector<std::byte> bytes(rows * columns * 8);
    fill_run(ElementType::float64, 0, 0, {0, rows * columns}, bytes.data());
    if (flipped >= 0) bytes[static_cast<std::size_t>(flipped)] ^= std::byte{1};
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }
  comm.barrier();
}

FileCheck check(std::int64_t flipped) {
  const Comm comm(MPI_COMM_WORLD);
  const Scratch scratch(comm);
  write_raw(comm, scratch.file("u.raw"), flipped);
  return verify_file(comm, FileFormat::raw, some_rows(comm.rank()), scratch.file("u.raw"));
}

std::uint64_t owned_elements() { return Comm(MPI_COMM_WORLD).sum(columns); }

TEST(VerifyFile, PassesWhatIsRightAndCountsOwnedElementsOnly) {
  const FileCheck result = check(-1);
  EXPECT_TRUE(result.passed());
  EXPECT_EQ(result.elements_checked, owned_elements());
}

TEST(VerifyFile, OneFlippedBitInAnOwnedElementIsFoundAndLocated) {
  const FileCheck result = check(3 * 8);
  EXPECT_EQ(result.elements_wrong, 1u);
  EXPECT_NE(result.first_mismatch.find("u"), std::string::npos);
  EXPECT_NE(result.first_mismatch.find("3"), std::string::npos) << result.first_mismatch;
}

TEST(VerifyFile, WhatNobodyWroteIsNotChecked) {
  EXPECT_TRUE(check(static_cast<std::int64_t>((rows * columns - 1) * 8)).passed());
}

}  // namespace
}  // namespace slabmark
