#include "measure/manifest_file_system.hpp"

#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace slabmark {
namespace {

constexpr std::string_view mountinfo =
    "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw,errors=remount-ro\n"
    "30 22 0:25 / /scratch rw,noatime shared:5 master:2 - lustre mds1@tcp:/scratch rw,flock\n"
    "31 22 0:26 / /scratch2 rw - tmpfs tmpfs rw,size=1k\n"
    "32 30 0:27 / /scratch/my\\040dir rw - nfs4 server:/a\\134b rw\n"
    "33 22 0:28 / /twice rw - ext4 /dev/sdb rw\n"
    "34 33 0:29 / /twice ro - xfs /dev/sdc ro\n"
    "a line that is none\n";

TEST(Mounts, AreTheLongestThatHoldThePath) {
  const std::optional<Mount> mount = find_mount(mountinfo, "/scratch/me/run");
  ASSERT_TRUE(mount.has_value());
  const Mount expected{.point = "/scratch",
                       .type = "lustre",
                       .source = "mds1@tcp:/scratch",
                       .options = "rw,noatime,rw,flock"};
  EXPECT_EQ(*mount, expected);
  EXPECT_EQ(find_mount(mountinfo, "/scratch")->type, "lustre");
  EXPECT_EQ(find_mount(mountinfo, "/scratch2/x")->type, "tmpfs");
  EXPECT_EQ(find_mount(mountinfo, "/scratch3")->type, "ext4") << "a name is matched in full";
}

TEST(Mounts, MayHaveBlanksInTheirNames) {
  const std::optional<Mount> mount = find_mount(mountinfo, "/scratch/my dir/x");
  EXPECT_EQ(mount->type, "nfs4");
  EXPECT_EQ(mount->source, "server:/a\\b");
}

TEST(Mounts, AreTheUppermostOfSeveralAtOnePoint) {
  EXPECT_EQ(find_mount(mountinfo, "/twice/x")->type, "xfs");
}

TEST(Mounts, AreNothingWhereNoneMatches) {
  EXPECT_FALSE(find_mount("", "/a").has_value());
  EXPECT_FALSE(find_mount(mountinfo, "relative").has_value());
}

TEST(FileSystems, AreKnownForDirectoriesThatDoNotExistYet) {
  const nlohmann::json described = describe_file_system("/proc/none/such");
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
  std::filesystem::remove(tool);
  EXPECT_EQ(lustre_striping("/s", "lustre", tool)["absent"], tool + " cannot be run");
}

TEST(LustreStriping, IsAbsentElsewhereByName) {
  EXPECT_EQ(lustre_striping("/s", "ext4")["absent"], "the file system is ext4");
}

}  // namespace
}  // namespace slabmark
