#include "bench/map/replaced_file.hpp"

#include <filesystem>

#include <gtest/gtest.h>

#include "bench/map/map_files.hpp"

namespace slabmark {
namespace {

namespace fs = std::filesystem;

class ReplacedFiles : public testing::Test {
 protected:
  void SetUp() override {
    if (!comm_.is_root()) GTEST_SKIP() << "one rank writes";
    std::ofstream(path_) << "earlier";
  }
  std::size_t files() const {
    const fs::directory_iterator all(fs::path(path_).parent_path());
    return static_cast<std::size_t>(std::distance(fs::begin(all), fs::end(all)));
  }

  Comm comm_{MPI_COMM_WORLD};
  Scratch scratch_{comm_};
  std::string path_ = scratch_.file("out");
};

TEST_F(ReplacedFiles, TheNewContentIsThereOnlyAfterCommit) {
  ReplacedFile file(path_, 3);
  std::ofstream(file.written_as()) << "new";
  EXPECT_EQ(content_of(path_), "earlier");
  file.commit(3);
  EXPECT_EQ(content_of(path_), "new");
  EXPECT_EQ(files(), 1);
}

TEST_F(ReplacedFiles, WithoutCommitNothingIsLeft) {
  { ReplacedFile file(path_, 3); }
  EXPECT_EQ(content_of(path_), "earlier");
  EXPECT_EQ(files(), 1);
}

TEST_F(ReplacedFiles, AShortFileIsNotGivenItsName) {
  {
    ReplacedFile file(path_, 0);
    std::ofstream(file.written_as()) << "ne";
    EXPECT_THROW(file.commit(3), IoError);
  }
  EXPECT_EQ(content_of(path_), "earlier");
  EXPECT_EQ(files(), 1);
}

TEST_F(ReplacedFiles, ALinkStaysALink) {
  const std::string link = scratch_.file("link");
  fs::create_symlink(path_, link);
  ReplacedFile file(link, 3);
  std::ofstream(file.written_as()) << "new";
  file.commit(3);
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(content_of(path_), "new");
}

TEST_F(ReplacedFiles, ALinkThatLeadsNowhereOrToItselfStaysAsItIs) {
  fs::create_symlink(scratch_.file("nothing"), scratch_.file("dangling"));
  fs::create_symlink(scratch_.file("loop"), scratch_.file("loop"));
  expect_bad_input([&] { ReplacedFile(scratch_.file("dangling"), 0); }, {"dangling", "nowhere"});
  expect_bad_input([&] { ReplacedFile(scratch_.file("loop"), 0); }, {"loop", "to itself"});
  EXPECT_TRUE(fs::is_symlink(scratch_.file("dangling")));
  EXPECT_TRUE(fs::is_symlink(scratch_.file("loop")));
}

TEST_F(ReplacedFiles, DevicesAndDirectoriesAreNotReplaced) {
  expect_bad_input([] { ReplacedFile("/dev/null", 0); }, {"/dev/null", "not a regular file"});
  expect_bad_input([&] { ReplacedFile(fs::path(path_).parent_path(), 0); }, {"not a regular file"});
}

TEST_F(ReplacedFiles, AMissingDirectoryIsNamed) {
  expect_bad_input([&] { ReplacedFile(scratch_.file("none/out"), 0); }, {"none", "does not exist"});
}

}  // namespace
}  // namespace slabmark
