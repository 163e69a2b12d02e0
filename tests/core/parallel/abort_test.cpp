#include "core/parallel/abort.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "scratch.hpp"

namespace slabmark {
namespace {

namespace fs = std::filesystem;

/// A directory with files and directories in it, as many as one call of the system does not list.
void fill_directory(const std::string& path) {
  fs::create_directories(path + "/a/b");
  for (int i = 0; i < 300; ++i) std::ofstream(path + "/a/file" + std::to_string(i)) << i;
  std::ofstream(path + "/a/b/c") << "c";
}

/// Guards `path` in a process that is then told to stop.
void stop_with(const std::string& path, RemoveOnAbort::Directory directory) {
  const pid_t child = fork();
  if (child == 0) {
    enter_program("test");
    const RemoveOnAbort guard(path, directory);
    std::raise(SIGTERM);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
}

TEST(RemoveOnAbort, RemovesADirectoryWithItsContentsOnlyWhereItIsToldTo) {
  const Scratch scratch;
  const std::string path = scratch.file("directory");
  fill_directory(path);
  stop_with(path, RemoveOnAbort::Directory::if_empty);
  EXPECT_TRUE(fs::exists(path + "/a/b/c"));
  stop_with(path, RemoveOnAbort::Directory::with_contents);
  EXPECT_FALSE(fs::exists(path));
}

TEST(RemoveOnAbort, DoesNotFollowSymbolicLinks) {
  const Scratch scratch;
  fill_directory(scratch.file("kept"));
  fs::create_directory(scratch.file("directory"));
  fs::create_directory_symlink(scratch.file("kept"), scratch.file("directory/link"));
  stop_with(scratch.file("directory"), RemoveOnAbort::Directory::with_contents);
  EXPECT_FALSE(fs::exists(scratch.file("directory")));
  fs::create_directory_symlink(scratch.file("kept"), scratch.file("link"));
  stop_with(scratch.file("link"), RemoveOnAbort::Directory::with_contents);
  EXPECT_TRUE(fs::exists(scratch.file("kept/a/b/c")));
}

}  // namespace
}  // namespace slabmark
