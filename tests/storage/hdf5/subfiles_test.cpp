#include "storage/hdf5/subfiles.hpp"

#include <fstream>
#include <iterator>
#include <sys/stat.h>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "core/base/error.hpp"
#include "core/parallel/comm.hpp"
#include "scratch.hpp"

namespace slabmark::hdf5 {
namespace {

TEST(Subfiles, AreFilledStripeByStripeSoThatTheFirstIsTheLargest) {
  if (!no_subfiling_cause().empty()) GTEST_SKIP() << no_subfiling_cause();
  constexpr std::uint64_t stripe = 32 << 20;
  EXPECT_EQ(largest_subfile(10, 4), 10u);
  EXPECT_EQ(largest_subfile(stripe + 10, 4), stripe);
  EXPECT_EQ(largest_subfile(4 * stripe + 10, 4), stripe + 10);
  EXPECT_EQ(largest_subfile(7 * stripe, 4), 2 * stripe);
  EXPECT_EQ(largest_subfile(3 * stripe + 1, 0), 3 * stripe + 1);  // perhaps one node
}

class RenamedSubfiles : public testing::Test {
 protected:
  Comm comm{MPI_COMM_WORLD};
  Scratch scratch{comm};

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(scratch.file(name)) << text;
    return scratch.file(name);
  }

  static std::string read(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  /// What HDF5 2.2.0 leaves for two subfiles.
  std::string make(const std::string& stub, const std::string& data) const {
    const std::string path = write(stub, "");
    struct stat status {};
    EXPECT_EQ(stat(path.c_str(), &status), 0);
    const std::string subfile = fmt::format("{}.subfile_{}", stub, status.st_ino);
    write(subfile + "_1_of_2", data);
    write(subfile + "_2_of_2", data);
    write(subfile + ".config",
          fmt::format("stripe_size=33554432\nhdf5_file={}\nsubfile_dir={}\n{}_1_of_2\n{}_2_of_2\n",
                      path, scratch.file(""), subfile, subfile));
    return path;
  }
};

TEST_F(RenamedSubfiles, GoWithTheirStubAndReplaceThoseOfAnEarlierOne) {
  if (!comm.is_root()) return;
  const std::string from = make("e.partial", "new");
  const std::string to = make("e", "old");
  const auto old = subfiles_of(to);
  rename_with_subfiles(from, to);
  EXPECT_THAT(subfiles_of(from), testing::IsEmpty());
  const auto found = subfiles_of(to);
  ASSERT_EQ(found.size(), 3u);
  for (const std::string& path : old) EXPECT_NE(access(path.c_str(), F_OK), 0) << path;
  for (const std::string& path : found) {
    const std::string text = read(path);
    if (!path.ends_with(".config")) {
      EXPECT_EQ(text, "new");
      continue;
    }
    EXPECT_EQ(text.find("e.partial"), std::string::npos) << text;
    EXPECT_NE(text.find("stripe_size=33554432\nhdf5_file=" + to + "\n"), std::string::npos) << text;
    EXPECT_NE(text.find("\ne.subfile_"), std::string::npos) << text;
  }
}

TEST_F(RenamedSubfiles, AreNoneOfAnOrdinaryFile) {
  if (!comm.is_root()) return;
  rename_with_subfiles(write("f.partial", "data"), scratch.file("f"));
  EXPECT_EQ(read(scratch.file("f")), "data");
  EXPECT_THROW(rename_with_subfiles(scratch.file("none"), scratch.file("f")), IoError);
  EXPECT_EQ(read(scratch.file("f")), "data");
}

}  // namespace
}  // namespace slabmark::hdf5
