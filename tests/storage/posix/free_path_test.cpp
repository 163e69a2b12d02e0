#include "storage/posix/free_path.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"

namespace slabmark::posix {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class FreePath : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = (fs::temp_directory_path() / "slabmark-free-XXXXXX").string();
    ASSERT_NE(mkdtemp(directory_.data()), nullptr);
  }
  void TearDown() override { fs::remove_all(directory_); }

  static std::string refusal(const std::string& path, bool overwrite = false) {
    try {
      require_free_path(path, overwrite);
    } catch (const InputError& error) {
      return error.what();
    }
    return "free";
  }

  std::string directory_;
};

TEST_F(FreePath, IsLeftAsItWas) {
  EXPECT_EQ(refusal(directory_ + "/new"), "free");
  EXPECT_TRUE(fs::is_empty(directory_));
}

TEST_F(FreePath, IsNotWhereSomethingStands) {
  const auto path = directory_ + "/old";
  std::ofstream(path) << "mine";
  EXPECT_THAT(refusal(path), HasSubstr("exists already"));
  EXPECT_EQ(fs::file_size(path), 4U);
  EXPECT_EQ(refusal(path, true), "free");
  EXPECT_TRUE(fs::is_empty(directory_));
}

TEST_F(FreePath, IsNotWhereNoFileCanBeMadeEvenByRoot) {
  EXPECT_THAT(refusal("/proc/slabmark"), HasSubstr("'/proc' is not writable"));
  EXPECT_THAT(refusal(directory_ + "/none/new"), HasSubstr("does not exist"));
}

}  // namespace
}  // namespace slabmark::posix
