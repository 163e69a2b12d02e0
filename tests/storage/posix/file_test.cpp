#include "storage/posix/file.hpp"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <sys/resource.h>
#include <sys/stat.h>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "scratch.hpp"

namespace slabmark::posix {
namespace {

class PosixFiles : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return scratch_.file(name); }

  template <class Call>
  static std::string message_of(const Call& call) {
    try {
      call();
    } catch (const IoError& error) {
      return error.what();
    }
    return "no error";
  }

 private:
  const Scratch scratch_;
};

std::vector<std::byte> pattern_of(std::size_t bytes) {
  std::vector<std::byte> data(bytes);
  for (std::size_t i = 0; i < bytes; ++i) data[i] = static_cast<std::byte>(i * 31 + 7);
  return data;
}

TEST_F(PosixFiles, WhatIsWrittenAtAnOffsetIsReadFromThere) {
  const auto data = pattern_of(10000);
  auto file = File::create(path("f"));
  file.write_at(123, data.data(), data.size());
  file.sync();
  file.close();

  auto again = File::open(path("f"), File::Access::read);
  EXPECT_EQ(again.size(), 10123u);
  std::vector<std::byte> found(data.size());
  again.read_at(123, found.data(), found.size());
  EXPECT_EQ(found, data);
}

TEST_F(PosixFiles, OffsetsBeyond4GiBWork) {
  const auto data = pattern_of(10);
  auto file = File::create(path("sparse"));
  file.write_at(std::uint64_t{5} << 30, data.data(), data.size());
  std::vector<std::byte> found(10);
  file.read_at(std::uint64_t{5} << 30, found.data(), found.size());
  EXPECT_EQ(found, data);
}

TEST_F(PosixFiles, AFileThatExistsIsNotCreatedAgain) {
  File::create(path("f"));
  const auto message = message_of([&] { File::create(path("f")); });
  EXPECT_NE(message.find("open failed on '" + path("f") + "'"), std::string::npos) << message;
  EXPECT_NE(message.find("remove it or choose another name"), std::string::npos) << message;
}

TEST_F(PosixFiles, AFileWithoutANameIsHeldUntilItIsClosedAndLeavesItsFolderAsItWas) {
  const auto data = pattern_of(1000);
  File::create(path("f.XXXXXX")).close();
  auto file = File::create_unnamed(path("f"));
  auto another = File::create_unnamed(path("f"));
  file.write_at(5, data.data(), data.size());
  EXPECT_EQ(another.size(), 0u);
  std::vector<std::byte> found(data.size());
  file.read_at(5, found.data(), found.size());
  EXPECT_EQ(found, data);
  const std::filesystem::directory_iterator all(std::filesystem::path(path("f")).parent_path());
  EXPECT_EQ(std::distance(begin(all), end(all)), 1);
}

TEST_F(PosixFiles, AnInputIsARegularFileThatIsThere) {
  std::filesystem::create_directory(path("folder"));
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  std::filesystem::create_symlink(path("loop"), path("loop"));
  for (const auto& [input, reason] :
       std::vector<std::pair<std::string, std::string>>{{path("none"), "No such file"},
                                                        {path("folder"), "it is a directory"},
                                                        {path("pipe"), "it is no regular file"},
                                                        {"/dev/zero", "it is no regular file"},
                                                        {path("loop"), "symbolic links"}}) {
    try {
      File::open_input(input, "map");
      ADD_FAILURE() << input << " was opened";
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("The map '" + input + "'"), std::string::npos);
      EXPECT_NE(std::string(error.what()).find(reason), std::string::npos) << error.what();
    }
  }
  File::create(path("f"));
  EXPECT_EQ(File::open_input(path("f"), "map").size(), 0u);
}

TEST_F(PosixFiles, AMissingDirectoryIsNamedWithTheRemedy) {
  const auto message = message_of([&] { File::create(path("none/f")); });
  EXPECT_NE(message.find("make the directory first"), std::string::npos) << message;
}

TEST_F(PosixFiles, AFileThatEndsTooEarlyIsAnErrorThatSaysWhere) {
  auto file = File::create(path("f"));
  file.resize(100);
  std::vector<std::byte> found(50);
  const auto message = message_of([&] { file.read_at(80, found.data(), 50); });
  EXPECT_NE(message.find("ends at byte 100, 30 bytes before"), std::string::npos) << message;
}

TEST_F(PosixFiles, TheFileSizeLimitIsAnErrorWithItsRemedyAndNoSignal) {
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  rlimit old{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
  rlimit small = old;
  small.rlim_cur = 4096;
  auto file = File::create(path("f"));
  const auto data = pattern_of(10000);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto written = message_of([&] { file.write_at(0, data.data(), data.size()); });
  const auto resized = message_of([&] { file.resize(10000); });
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &old), 0);
  std::signal(SIGXFSZ, before);
  EXPECT_NE(written.find("pwrite failed"), std::string::npos) << written;
  EXPECT_NE(written.find("ulimit -f"), std::string::npos) << written;
  EXPECT_NE(resized.find("ftruncate failed"), std::string::npos) << resized;
}

TEST_F(PosixFiles, AFullDeviceIsAnErrorWithItsRemedy) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full";
  auto file = File::open("/dev/full", File::Access::write);
  const auto data = pattern_of(10);
  const auto message = message_of([&] { file.write_at(0, data.data(), data.size()); });
  EXPECT_NE(message.find("free some space"), std::string::npos) << message;
}

TEST_F(PosixFiles, WhatTwoAppendToOneFileComesOneAfterTheOther) {
  auto first = File::open_to_append(path("f"));
  auto second = File::open_to_append(path("f"));
  const auto data = pattern_of(10);
  first.append(data.data(), 4);
  second.append(data.data() + 4, 4);
  first.append(data.data() + 8, 2);
  std::vector<std::byte> found(10);
  second.read_at(0, found.data(), 10);
  EXPECT_EQ(found, data);
}

TEST_F(PosixFiles, ALockKeepsOthersOutUntilItsFileIsClosed) {
  auto first = File::open_to_append(path("f"));
  auto second = File::open_to_append(path("f"));
  if (first.try_lock(false) == File::Lock::unsupported) GTEST_SKIP() << "there are no locks";
  EXPECT_EQ(second.try_lock(false), File::Lock::held_by_another);
  EXPECT_EQ(second.try_lock(true), File::Lock::held_by_another);
  first.close();
  EXPECT_EQ(second.try_lock(true), File::Lock::taken);
  auto third = File::open_to_append(path("f"));
  EXPECT_EQ(third.try_lock(true), File::Lock::taken);
}

TEST_F(PosixFiles, AFileThatWasRemovedIsNotAtItsName) {
  const auto file = File::create(path("f"));
  EXPECT_TRUE(file.is_at_its_name());
  unlink(path("f"));
  EXPECT_FALSE(file.is_at_its_name());
  File::create(path("f"));
  EXPECT_FALSE(file.is_at_its_name());
}

TEST_F(PosixFiles, UnlinkingWhatIsNotThereIsNoError) {
  File::create(path("f"));
  unlink(path("f"));
  EXPECT_FALSE(std::filesystem::exists(path("f")));
  EXPECT_NO_THROW(unlink(path("f")));
}

TEST_F(PosixFiles, AMovedFileIsClosedOnce) {
  auto first = File::create(path("f"));
  auto second = std::move(first);
  EXPECT_FALSE(first.is_open());
  EXPECT_TRUE(second.is_open());
  second.close();
  EXPECT_NO_THROW(second.close());
}

}  // namespace
}  // namespace slabmark::posix
