#include "storage/posix/file_system.hpp"

#include <filesystem>

#include <gtest/gtest.h>

namespace slabmark::posix {
namespace {

TEST(FileSystem, WhatCannotBeFoundOutLocksNothing) {
  EXPECT_FALSE(locks_file_to_write("/nowhere/at/all"));
  EXPECT_FALSE(locks_file_to_write("/proc"));
}

TEST(FileSystem, MemoryThatIsAFileSystemLocksFilesToWrite) {
  const char* shared_memory = "/dev/shm";
  if (!std::filesystem::is_directory(shared_memory)) GTEST_SKIP() << "there is no /dev/shm";
  EXPECT_TRUE(locks_file_to_write(shared_memory));
}

}  // namespace
}  // namespace slabmark::posix
