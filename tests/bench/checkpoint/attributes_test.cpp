#include "bench/checkpoint/attributes.hpp"

#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "bench/checkpoint/content.hpp"
#include "core/base/error.hpp"
#include "scratch.hpp"
#include "storage/hdf5/subfiles.hpp"

namespace slabmark {
namespace {

class CheckpointAttributes : public testing::Test {
 protected:
  static CheckpointSettings settings() {
    CheckpointSettings settings;
    settings.grid = {{2, 1, 1}, {3, 4, 5}, {3, 4, 5}, 2};
    settings.collective_write = true;
    settings.deflate = 3;
    settings.n_nodes = 7;
    settings.use_function_name = "gaussian";
    settings.use_function_argc = 4;
    settings.use_function_argv = "1 2 3 4";
    return settings;
  }

  /// A file as a method leaves it, with `steps` steps of the settings' array.
  std::string make(std::uint64_t steps = 2, bool subfiling = false) const {
    const std::string path = scratch_.file("file.h5");
    auto file = hdf5::File::create(comm_.get(), MPI_INFO_NULL, path, {.subfiling = subfiling});
    Extent extent = settings().grid.extent();
    extent.insert(extent.begin(), steps);
    file.create_dataset("chunked", ElementType::float32, hdf5::Space(extent), {});
    file.close();
    return path;
  }

  /// The same on all ranks, or the test fails; empty if nothing is thrown.
  std::string refusal(const std::string& path) const {
    std::string message;
    try {
      read_checkpoint_attributes(comm_, path);
    } catch (const InputError& error) {
      message = error.what();
    }
    EXPECT_EQ(comm_.broadcast(message), message);
    return message;
  }

  const Comm comm_{MPI_COMM_WORLD};
  const Scratch scratch_{comm_};
};

void expect_equal(const CheckpointSettings& found, const CheckpointSettings& expected) {
  EXPECT_EQ(found.grid.processor, expected.grid.processor);
  EXPECT_EQ(found.grid.domain, expected.grid.domain);
  EXPECT_EQ(found.grid.chunk, expected.grid.chunk);
  EXPECT_EQ(found.grid.steps, expected.grid.steps);
  EXPECT_EQ(found.collective_write, expected.collective_write);
  EXPECT_EQ(found.precreate, expected.precreate);
  EXPECT_EQ(found.deflate, expected.deflate);
  EXPECT_EQ(found.n_nodes, expected.n_nodes);
  EXPECT_EQ(found.use_function_name, expected.use_function_name);
  EXPECT_EQ(found.function_arguments(), expected.function_arguments());
}

TEST_F(CheckpointAttributes, AreReadByEveryRankAsTheyWereWritten) {
  const std::string path = make();
  write_checkpoint_attributes(comm_, path, settings(), {{"a fact", "of the run"}});
  const CheckpointSettings found = read_checkpoint_attributes(comm_, path);
  expect_equal(found, settings());
  EXPECT_EQ(found.filename, path) << "where the file is, not where it was written";
  EXPECT_EQ(method_for(path), "hdf5-slab");
}

TEST_F(CheckpointAttributes, AreWrittenIntoSubfilesByAllRanks) {
  if (!hdf5::no_subfiling_cause().empty()) GTEST_SKIP() << hdf5::no_subfiling_cause();
  const std::string path = make(2, true);
  write_checkpoint_attributes(comm_, path, settings(), {});
  expect_equal(read_checkpoint_attributes(comm_, path), settings());
  EXPECT_EQ(method_for(path), "hdf5-subfiling");
}

TEST_F(CheckpointAttributes, AFileWithoutThemIsRefusedOnAllRanks) {
  const std::string path = make();
  EXPECT_NE(refusal(path).find(path + "' holds no dataset"), std::string::npos) << refusal(path);
  EXPECT_NE(refusal(scratch_.file("none")).find("There is no file"), std::string::npos);
  const std::string text = scratch_.file("text");
  if (comm_.is_root()) std::ofstream(text) << "no HDF5";
  comm_.barrier();
  EXPECT_NE(refusal(text).find("is no HDF5 file"), std::string::npos) << refusal(text);
}

TEST_F(CheckpointAttributes, OfAnotherDatasetAreRefusedOnAllRanks) {
  const std::string path = make(3);
  write_checkpoint_attributes(comm_, path, settings(), {});
  EXPECT_NE(refusal(path).find("the attributes of the file speak of"), std::string::npos)
      << refusal(path);
}

TEST_F(CheckpointAttributes, TheirPatternIsOwnedByTheRanksTogether) {
  CheckpointSettings plain = settings();
  plain.use_function_name.clear();
  const Pattern mine = make_checkpoint(comm_, plain);
  EXPECT_EQ(comm_.sum(moved_bytes(mine)), std::uint64_t{2} * 2 * 3 * 4 * 5 * 4);
  ASSERT_TRUE(mine.content);
  const Pattern bare = make_checkpoint(comm_, plain, false);
  EXPECT_EQ(bare.content, nullptr);
}

}  // namespace
}  // namespace slabmark
