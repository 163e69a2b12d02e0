#include "storage/posix/free_path.hpp"

#include <filesystem>
#include <fstream>
#include <functional>
#include <sys/stat.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "scratch.hpp"

namespace slabmark::posix {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class FreePath : public testing::Test {
 protected:
  static std::string refusal(const std::string& path, bool overwrite = false) {
    return refusal_of([&] { require_free_path(path, {overwrite}); });
  }

  static std::string refusal_of(const std::function<void()>& ask) {
    try {
      ask();
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

TEST_F(FreePath, IsNeverWhereAnInputStandsWhateverItIsCalled) {
  const auto input = directory_ + "/in";
  std::ofstream(input) << "mine";
  fs::create_hard_link(input, directory_ + "/hard");
  fs::create_symlink(input, directory_ + "/soft");
  for (const std::string output : {"/in", "/./in", "/hard", "/soft"}) {
    const Output asked{.overwrite = true, .inputs = {"no such file", input}};
    EXPECT_THAT(refusal_of([&] { require_output(directory_ + output, asked); }),
                HasSubstr("is the input '" + input));
  }
  EXPECT_EQ(fs::file_size(input), 4U);
}

TEST_F(FreePath, IsNeverWhereRecordsAreToGoThoughNoFileIsThereYet) {
  const auto records = directory_ + "/new.jsonl";
  fs::create_symlink(directory_, directory_ + "/folder");
  for (const std::string output : {"/new.jsonl", "/./new.jsonl", "/folder/new.jsonl"}) {
    const Output asked{.overwrite = true, .records = records};
    EXPECT_THAT(refusal_of([&] { require_output(directory_ + output, asked); }),
                HasSubstr("is the record file of --json"));
  }
  EXPECT_FALSE(require_output(directory_ + "/other", {.records = records}));
}

TEST_F(FreePath, IsNotInAFile) {
  std::ofstream(directory_ + "/file") << "mine";
  EXPECT_THAT(refusal(directory_ + "/file/new"), HasSubstr("is no directory"));
}

TEST_F(FreePath, IsNeverWhereSomethingElseThanAFileStands) {
  ASSERT_EQ(::mkfifo((directory_ + "/pipe").c_str(), 0600), 0);
  fs::create_directory(directory_ + "/folder");
  for (const std::string& path :
       {directory_ + "/pipe", directory_ + "/folder", std::string("/dev/null")})
    EXPECT_THAT(refusal(path, true), HasSubstr("not a regular file"));
}

TEST_F(FreePath, IsNeverWhereALinkLeadsNowhereOrToItself) {
  fs::create_symlink(directory_ + "/none", directory_ + "/dangling");
  fs::create_symlink(directory_ + "/loop", directory_ + "/loop");
  EXPECT_THAT(refusal(directory_ + "/dangling", true), HasSubstr("leads nowhere"));
  EXPECT_THAT(refusal(directory_ + "/loop", true), HasSubstr("to itself"));
  EXPECT_THAT(refusal(directory_ + "/loop/new", true), HasSubstr("cannot be used"));
  EXPECT_THAT(refusal(directory_ + "/" + std::string(300, 'n'), true), HasSubstr("too long"));
  EXPECT_FALSE(fs::exists(directory_ + "/none"));
}

TEST_F(FreePath, IsWhereALinkLeadsOnlyForThoseWhoReplaceWhatIsThere) {
  const auto target = directory_ + "/target";
  std::ofstream(target) << "mine";
  fs::create_symlink(target, directory_ + "/link");
  EXPECT_TRUE(require_output(directory_ + "/link", {.overwrite = true}));
  EXPECT_THAT(refusal(directory_ + "/link", true), HasSubstr("is a symbolic link"));
  EXPECT_EQ(fs::file_size(target), 4U);
}

TEST_F(FreePath, IsWhereAFileOfTheProgramsOwnKindStandsIfItsOriginalReplacedIt) {
  std::ofstream(directory_ + "/old.nc") << "CDF5";
  std::ofstream(directory_ + "/thesis") << "my thesis";
  std::ofstream(directory_ + "/short") << "C";
  const Output asked{.own_kind = "CDF"};
  EXPECT_TRUE(require_output(directory_ + "/old.nc", asked));
  for (const std::string name : {"/thesis", "/short"}) {
    EXPECT_THAT(refusal_of([&] { require_output(directory_ + name, asked); }),
                HasSubstr("exists already"));
  }
}

}  // namespace
}  // namespace slabmark::posix
