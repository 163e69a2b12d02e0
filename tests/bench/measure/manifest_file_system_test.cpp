#include "bench/measure/manifest_file_system.hpp"

#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "scratch.hpp"

namespace slabmark {
namespace {

class Mounts : public testing::Test {
 protected:
  Mounts() {
    std::ofstream(table_) << "/dev/sda1 / ext4 rw,relatime,errors=remount-ro 0 0\n"
                             "mds1@tcp:/scratch /scratch lustre rw,noatime,flock 0 0\n"
                             "tmpfs /scratch2 tmpfs rw,size=1k 0 0\n"
                             "server:/a\\134b /scratch/my\\040dir nfs4 rw 0 0\n"
                             "/dev/sdb /twice ext4 rw 0 0\n"
                             "/dev/sdc /twice xfs ro 0 0\n";
  }

  std::optional<Mount> find(std::string_view path) const { return find_mount(path, table_); }

 private:
  const Scratch scratch_;
  const std::string table_ = scratch_.file("mounts");
};

TEST_F(Mounts, AreTheLongestThatHoldThePath) {
  const std::optional<Mount> mount = find("/scratch/me/run");
  ASSERT_TRUE(mount.has_value());
  const Mount expected{.point = "/scratch",
                       .type = "lustre",
                       .source = "mds1@tcp:/scratch",
                       .options = "rw,noatime,flock"};
  EXPECT_EQ(*mount, expected);
  EXPECT_EQ(find("/scratch")->type, "lustre");
  EXPECT_EQ(find("/scratch2/x")->type, "tmpfs");
  EXPECT_EQ(find("/scratch3")->type, "ext4") << "a name is matched in full";
}

TEST_F(Mounts, MayHaveBlanksInTheirNames) {
  const std::optional<Mount> mount = find("/scratch/my dir/x");
  EXPECT_EQ(mount->type, "nfs4");
  EXPECT_EQ(mount->source, "server:/a\\b");
}

TEST_F(Mounts, AreTheUppermostOfSeveralAtOnePoint) { EXPECT_EQ(find("/twice/x")->type, "xfs"); }

TEST_F(Mounts, AreNothingWhereNoneMatchesOrThereIsNoTable) {
  EXPECT_FALSE(find("relative").has_value());
  EXPECT_FALSE(find_mount("/a", "/nowhere/mounts").has_value());
}

TEST(FileSystems, AreKnownForDirectoriesThatDoNotExistYet) {
  const Json described = describe_file_system("/proc/none/such");
  EXPECT_EQ(described["path"], "/proc/none/such");
  if (described["type"].is_null()) GTEST_SKIP() << "/proc is not mounted, so mounts are not known";
  EXPECT_EQ(described["type"], "proc");
  EXPECT_EQ(described["lustre"]["absent"], "the file system is proc");
}

TEST(LustreStriping, IsWhatTheToolSays) {
  std::string tool = (std::filesystem::temp_directory_path() / "slabmark-lfs-XXXXXX").string();
  const int file = mkstemp(tool.data());
  ASSERT_GE(file, 0);
  close(file);
  std::ofstream(tool) << "#!/bin/sh\n[ \"$2\" = /none ] && exit 3\necho \"$1 $2\"\necho\n";
  chmod(tool.c_str(), 0700);
  EXPECT_EQ(lustre_striping("/s/a b", "lustre", tool)["striping"], "getstripe /s/a b");
  EXPECT_EQ(lustre_striping("/none", "lustre", tool)["absent"],
            tool + " getstripe failed with exit status 3");
  EXPECT_EQ(lustre_striping("/tmp", "lustre", tool)["striping"], "getstripe -d");
  std::filesystem::remove(tool);
  EXPECT_EQ(lustre_striping("/s", "lustre", tool)["absent"], tool + " cannot be run");
}

TEST(LustreStriping, IsAbsentElsewhereByName) {
  EXPECT_EQ(lustre_striping("/s", "ext4")["absent"], "the file system is ext4");
}

}  // namespace
}  // namespace slabmark
