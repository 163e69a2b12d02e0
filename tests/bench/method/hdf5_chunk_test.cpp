#include <gtest/gtest.h>

#include "bench/method/hdf5/chunk.hpp"
#include "bench/method/pass.hpp"
#include "bench/method/registry.hpp"
#include "core/base/error.hpp"
#include "scratch.hpp"

namespace slabmark {
namespace {

Dataset array(std::vector<Dimension> dimensions, bool has_time = false,
              std::optional<Extent> chunk = std::nullopt) {
  return {"v", ElementType::float32, std::move(dimensions), has_time, std::move(chunk)};
}

TEST(Hdf5Chunks, AreThoseOfThePatternUnlessAsked) {
  EXPECT_EQ(Hdf5Chunks().of(array({{"y", 10}, {"x", 20}}, false, Extent{5, 4})), (Extent{5, 4}));
  EXPECT_EQ(Hdf5Chunks().of(array({{"y", 10}, {"x", 20}})), Extent{});
  EXPECT_EQ(Hdf5Chunks("none").of(array({{"y", 10}, {"x", 20}}, false, Extent{5, 4})), Extent{});
}

TEST(Hdf5Chunks, LengthsAreThoseOfTheFastestDimensionsAndClipped) {
  const Hdf5Chunks chunks("4x866");
  EXPECT_EQ(chunks.of(array({{"z", 3}, {"y", 72}, {"x", 1000}})), (Extent{1, 4, 866}));
  EXPECT_EQ(chunks.of(array({{"y", 72}, {"x", 100}})), (Extent{4, 100}));
  EXPECT_EQ(chunks.of(array({{"x", 1000}})), (Extent{866}));
  EXPECT_EQ(Hdf5Chunks("4,866").text(), "4x866");
}

TEST(Hdf5Chunks, OfSoManyElementsAreWholeFastDimensions) {
  EXPECT_EQ(Hdf5Chunks("1K").of(array({{"z", 100}, {"y", 100}, {"x", 16}})), (Extent{1, 64, 16}));
  EXPECT_EQ(Hdf5Chunks("1K").of(array({{"x", 100}})), (Extent{100}));
}

TEST(Hdf5Chunks, HaveOneTimeStep) {
  EXPECT_EQ(Hdf5Chunks("7").of(array({{"x", 20}}, true)), (Extent{1, 7}));
  EXPECT_EQ(Hdf5Chunks("none").of(array({{"x", 20}}, true)), (Extent{1, 20}));
}

TEST(Hdf5Chunks, AValueOfAnotherFormIsRefusedByName) {
  for (const auto* value : {"", "0", "4x0", "4,", "x4", "4x", "axb", "-3", "4.5"}) {
    SCOPED_TRACE(value);
    try {
      Hdf5Chunks{value};
      ADD_FAILURE() << "accepted";
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("hdf5.chunk"), std::string::npos) << error.what();
    }
  }
}

TEST(Hdf5Chunks, TheRecordSaysHowManyDatasetsGotThem) {
  const Comm comm(MPI_COMM_WORLD);
  Pattern pattern;
  pattern.name = "two vectors";
  pattern.datasets = {array({{"x", 64}}), array({{"x", 64}}, true)};
  pattern.datasets[1].name = "w";
  const auto mine = comm.is_root() ? select_row_runs({64}, {{0, 64}}) : select_none({64});
  pattern.transfers = [mine](std::uint64_t) {
    return std::vector<Transfer>{{0, 0, mine, nullptr}, {1, 0, mine, nullptr}};
  };
  const Scratch scratch(comm);
  const auto& method = find_method("hdf5-union");
  EXPECT_EQ(write_file(method, comm, pattern, {}, scratch.file("a")).effective["layout"],
            (Json{{"contiguous", 1}, {"chunked", 1}}));
  EXPECT_EQ(write_file(method, comm, pattern, {{{"hdf5.chunk", "16"}}, {}}, scratch.file("b"))
                .effective["layout"],
            (Json{{"contiguous", 0}, {"chunked", 2}}));
}

}  // namespace
}  // namespace slabmark
