#include "bench/map/pio_text_writer.hpp"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <sys/resource.h>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/pattern/synthetic/f_decomposition.hpp"
#include "core/base/error.hpp"
#include "scratch.hpp"

namespace slabmark {
namespace {

using testing::HasSubstr;

std::string contents_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// A directory of its own for each test and process: under MPI every rank runs these tests.
class PioTextWriterTest : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return scratch_.file(name); }

  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(scratch_.path())) {
      names.push_back(entry.path().filename());
    }
    return names;
  }

  const Scratch scratch_;
};

TEST_F(PioTextWriterTest, TextIsThatOfPioWithDimensionsFastestFirst) {
  PioTextWriter writer(path("a.dat"), {72, 866}, 3);
  writer.begin_rank(0, 3);
  writer.append(std::vector<std::uint64_t>{5, 0});
  writer.append(std::vector<std::uint64_t>{std::numeric_limits<std::uint64_t>::max()});
  writer.begin_rank(2, 0);
  const std::string expected =
      "version 2001 npes 3 ndims 2 \n866 72 \n0 3\n5 0 18446744073709551615 \n2 0\n\n\n";
  writer.finish();
  EXPECT_EQ(writer.bytes(), expected.size());
  writer.commit();
  EXPECT_EQ(contents_of(path("a.dat")), expected);
}

void write_file(const std::string& path, const SyntheticMap& map) {
  PioTextWriter writer(path, map.dims, map.ranks);
  write_text(writer, map);
  writer.commit();
}

TEST_F(PioTextWriterTest, GeneratedNe4On16RanksEqualsTheRealFilesByteForByteUpToTheBacktrace) {
  const char* data = std::getenv("SLABMARK_TEST_DATA");
  if (data == nullptr) {
    GTEST_SKIP() << "SLABMARK_TEST_DATA does not name the directory of real decompositions.";
  }
  const auto f = make_f_decomposition(4, 16, 72, TieBreak::encounter);
  const std::vector<std::string> names = {"16io01dims_ioid_514.dat", "16io01dims_ioid_516.dat",
                                          "16io02dims_ioid_548.dat"};
  for (std::size_t k = 0; k < names.size(); ++k) {
    const std::string real = contents_of(std::string(data) + "/piodecomp16tasks" + names[k]);
    const std::size_t backtrace = real.find("Obtained 10 stack frames.");
    ASSERT_NE(backtrace, std::string::npos);
    write_file(path("d.dat"), f.maps[k]);
    EXPECT_TRUE(contents_of(path("d.dat")) == real.substr(0, backtrace)) << names[k];
  }
}

TEST_F(PioTextWriterTest, ListsLongerThanTheBufferComeOutWhole) {
  constexpr std::uint64_t count = 700000;
  PioTextWriter writer(path("long.dat"), {count}, 1);
  writer.begin_rank(0, count);
  std::vector<std::uint64_t> entries(count);
  std::string expected = "version 2001 npes 1 ndims 1 \n700000 \n0 700000\n";
  for (std::uint64_t i = 0; i < count; ++i) {
    entries[i] = i + 1;
    expected += std::to_string(i + 1) + ' ';
  }
  writer.append(entries);
  writer.finish();
  writer.commit();
  EXPECT_TRUE(contents_of(path("long.dat")) == expected + "\n\n");
}

TEST_F(PioTextWriterTest, AnUnfinishedFileLeavesNothingAndKeepsTheOldOne) {
  std::ofstream(path("old.dat")) << "old";
  {
    PioTextWriter writer(path("old.dat"), {10}, 1);
    writer.begin_rank(0, 1);
  }
  EXPECT_EQ(contents_of(path("old.dat")), "old");
  EXPECT_EQ(files().size(), 1U);
}

TEST_F(PioTextWriterTest, AFinishedFileReplacesTheOldOne) {
  std::ofstream(path("old.dat")) << "old";
  PioTextWriter writer(path("old.dat"), {10}, 1);
  writer.finish();
  EXPECT_EQ(contents_of(path("old.dat")), "old");
  writer.commit();
  EXPECT_EQ(contents_of(path("old.dat")), "version 2001 npes 1 ndims 1 \n10 \n\n");
  EXPECT_EQ(files().size(), 1U);
}

/// Message of the Error that writing a map of 55 KB to `path` ends in.
std::string failure(const std::string& path) {
  try {
    write_file(path, make_f_decomposition(4, 16, 10).maps[2]);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST_F(PioTextWriterTest, AFileSizeLimitIsNamedAndLeavesNoPartialFile) {
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit old_limit = {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old_limit), 0);
  const rlimit limit = {20000, old_limit.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  const std::string message = failure(path("limited.dat"));
  ::setrlimit(RLIMIT_FSIZE, &old_limit);
  std::signal(SIGXFSZ, old_handler);

  EXPECT_THAT(message, HasSubstr(path("limited.dat")));
  EXPECT_THAT(message, HasSubstr("File too large"));
  EXPECT_THAT(message, HasSubstr("ulimit -f"));
  EXPECT_TRUE(files().empty());
}

TEST_F(PioTextWriterTest, AListOfAnotherLengthThanAnnouncedIsAProgrammingError) {
  PioTextWriter too_many(path("a.dat"), {10}, 1);
  too_many.begin_rank(0, 1);
  EXPECT_THROW(too_many.append(std::vector<std::uint64_t>{1, 2}), std::logic_error);
  PioTextWriter too_few(path("b.dat"), {10}, 1);
  too_few.begin_rank(0, 2);
  too_few.append(std::vector<std::uint64_t>{1});
  EXPECT_THROW(too_few.finish(), std::logic_error);
}

}  // namespace
}  // namespace slabmark
