#include "convert/batches.hpp"

#include <random>

#include <gmock/gmock.h>

#include "core/geometry/hyperslab.hpp"

namespace slabmark::convert {
namespace {

FileVariable variable_of(std::vector<std::size_t> dimensions, ElementType type,
                         Extent stored_chunk = {}) {
  FileVariable variable{.name = "v", .type = type};
  variable.dimensions = std::move(dimensions);
  variable.stored_chunk = std::move(stored_chunk);
  return variable;
}

FileContents some_contents() {
  FileContents contents;
  contents.dimensions = {{"time", 13, true}, {"lat", 17, false}, {"lon", 6, false}};
  contents.variables = {variable_of({}, ElementType::int32), variable_of({0}, ElementType::float64),
                        variable_of({0, 1, 2}, ElementType::float32, {2, 17, 6}),
                        variable_of({1, 2}, ElementType::int8, {5, 4}),
                        variable_of({0, 2}, ElementType::int16)};
  return contents;
}

TEST(Batches, HoldEachElementOnce) {
  const FileContents contents = some_contents();
  const std::vector<Extent> chunks = {{}, {4}, {3, 5, 6}, {}, {1, 2}};
  for (const std::uint64_t most : {1, 8, 400, 1000, 100000}) {
    std::vector<std::vector<int>> seen;
    for (std::size_t v = 0; v < contents.variables.size(); ++v) {
      seen.emplace_back(element_count(contents.extent_of(v)));
    }
    for (const Batch& batch : batches_of(contents, chunks, most)) {
      std::uint64_t bytes = 0;
      for (const VariableBox& box : batch) {
        const Extent& chunk = chunks[box.variable];
        for (std::size_t d = 0; d < chunk.size(); ++d) EXPECT_EQ(box.start[d] % chunk[d], 0U);
        bytes += element_count(box.size) * size_of(contents.variables[box.variable].type);
        for_each_run(make_box(box.start, box.size), contents.extent_of(box.variable),
                     [&](slabmark::Run run) {
                       for (std::uint64_t i = run.offset; i < run.end(); ++i)
                         ++seen[box.variable][i];
                     });
      }
      EXPECT_TRUE(bytes <= most || batch.size() == 1);
    }
    for (const auto& of_variable : seen) EXPECT_THAT(of_variable, testing::Each(1));
  }
}

TEST(Batches, AreSharedByAllRanksWithoutRest) {
  const FileContents contents = some_contents();
  const std::vector<Extent> chunks = {{}, {4}, {3, 5, 6}, {}, {1, 2}};
  for (const std::uint64_t ranks : {1, 2, 3, 7, 50}) {
    for (const Batch& batch : batches_of(contents, chunks, 3000)) {
      std::vector<std::uint64_t> next(batch.size(), 0);
      for (std::uint64_t rank = 0; rank < ranks; ++rank) {
        const std::vector<slabmark::Run> shares = shares_of(contents, batch, rank, ranks);
        ASSERT_EQ(shares.size(), batch.size());
        for (std::size_t i = 0; i < batch.size(); ++i) {
          EXPECT_TRUE(shares[i].length == 0 || shares[i].offset == next[i]);
          next[i] += shares[i].length;
        }
      }
      for (std::size_t i = 0; i < batch.size(); ++i) {
        EXPECT_EQ(next[i], element_count(batch[i].size));
      }
    }
  }
}

TEST(Batches, ChunksOfTheSourceGoToOneRank) {
  FileContents contents;
  contents.dimensions = {{"time", 12, true}, {"x", 10, false}};
  contents.variables = {variable_of({0, 1}, ElementType::float32, {4, 10})};
  const Batch batch = {{0, {2, 0}, {10, 10}}};
  for (std::uint64_t rank = 0; rank < 5; ++rank) {
    const slabmark::Run share = shares_of(contents, batch, rank, 5).front();
    const std::uint64_t first = 2 + share.offset / 10;
    EXPECT_TRUE(share.length == 0 || first == 2 || first % 4 == 0) << first;
  }
}

}  // namespace
}  // namespace slabmark::convert
