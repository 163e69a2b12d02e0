#include "storage/posix/unfinished_name.hpp"

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/host_name.hpp"
#include "scratch.hpp"

namespace slabmark::posix {
namespace {

namespace fs = std::filesystem;

class UnfinishedNames : public testing::Test {
 protected:
  std::string make(const std::string& end) const {
    std::ofstream(path_ + end) << "x";
    return path_ + end;
  }
  /// Of a process that has ended.
  static std::string gone() {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    waitpid(child, nullptr, 0);
    return std::to_string(child);
  }

  const Scratch scratch_;
  const std::string path_ = scratch_.file("a.nc");
  const std::string begin_ = ".partial-" + host_name() + "-";
};

TEST_F(UnfinishedNames, LieBesideTheFileAndSayWhoWrites) {
  EXPECT_EQ(unfinished_name(path_), path_ + begin_ + std::to_string(getpid()));
  EXPECT_TRUE(fs::is_empty(scratch_.file("")));
}

TEST_F(UnfinishedNames, OfKilledRunsOfThisHostAreRemovedAndNoOthers) {
  const std::string left = make(begin_ + gone());
  const std::set<std::string> others = {make(begin_ + std::to_string(getpid())),
                                        make(begin_ + "notes"), make(begin_),
                                        make(".partial-elsewhere-" + gone()), make("")};
  unfinished_name(path_);
  EXPECT_FALSE(fs::exists(left));
  for (const std::string& other : others) EXPECT_TRUE(fs::exists(other)) << other;
}

TEST_F(UnfinishedNames, OfKilledRunsAreGivenToWhoKnowsWhatBelongsToThem) {
  const std::string left = make(begin_ + gone());
  std::vector<std::string> given;
  unfinished_name(path_, [&](const std::string& file) { given.push_back(file); });
  EXPECT_EQ(given, std::vector<std::string>{left});
  EXPECT_TRUE(fs::exists(left));
}

}  // namespace
}  // namespace slabmark::posix
