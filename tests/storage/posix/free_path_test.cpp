#include "storage/posix/free_path.hpp"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "scratch.hpp"

namespace slabmark::posix {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class FreePath : public testing::Test {
 protected:
  static std::string refusal(const std::string& path, bool overwrite = false) {
    try {
      require_free_path(path, overwrite);
    } catch (const InputError& error) {
      return error.what();
    }
    return "free";
  }

  const Scratch scratch_;
  const std::string& directory_ = scratch_.path();
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
