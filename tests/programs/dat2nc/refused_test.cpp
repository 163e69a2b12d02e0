#if SLABMARK_WITH_PNETCDF

#include "programs/run_here.hpp"

namespace slabmark {
namespace {

class Dat2nc : public ProgramTest {
 protected:
  // A 2 x 6 array in C order on three ranks; element 11 belongs to no rank.
  const std::vector<std::uint64_t> extent = {6, 2};
  const std::vector<std::vector<std::int64_t>> rows = {
      {3, 2, 1, 0, 7}, {0, 0, 0}, {8, 9, 10, 11, 4, 5, 6}};
};

TEST_F(Dat2nc, WrongUsageIsOneSentenceBeforeAnyFile) {
  write_map("a.dat", extent, rows);
  write_map("map.txt", extent, rows);
  write_map("two.dat", extent, {rows[0], rows[1]});
  prepare([](const Comm&) { std::filesystem::create_directory("folder"); });
  const std::vector<Refused> cases = {
      {"no input", {}, "dat2nc [-h] [-q]"},
      {"unknown option", {"-x", "a.dat"}, "-x"},
      {"no .dat in the name", {"map.txt"}, "-o"},
      {"output is the input", {"a.dat", "-o", "a.dat"}, "a.dat"},
      {"output is the input by another name", {"a.dat", "-o", "./a.dat"}, "a.dat"},
      {"many inputs, no output", {"a.dat", "a.dat"}, "-o"},
      {"missing list", {"-i", "none.txt", "-o", "b.nc"}, "none.txt"},
      {"missing input", {"none.dat"}, "none.dat"},
      {"directory as input", {"folder", "-o", "b.nc"}, "is a directory"},
      {"directory as output", {"a.dat", "-o", "folder"}, "folder"},
      {"device as output", {"a.dat", "-o", "/dev/null"}, "/dev/null"},
      {"missing folder of the output", {"a.dat", "-o", "none/b.nc"}, "'none'"},
      {"maps of different numbers of ranks", {"a.dat", "two.dat", "-o", "b.nc"}, "two.dat"},
  };
  for (const Refused& one : cases) {
    SCOPED_TRACE(one.name);
    expect_refused(programs::dat2nc(), one.words, one.culprit);
  }
}

std::string replaced(std::string text, const std::string& part, const std::string& other) {
  return text.replace(text.find(part), part.size(), other);
}

TEST_F(Dat2nc, AWrongFileIsOneSentenceAndLeavesTheEarlierOutput) {
  write_map("a.dat", extent, rows);
  const std::string sound = content_of("a.dat");
  world().barrier();
  std::string random;
  for (unsigned i = 0, dice = 1; i < 4000; ++i) {
    dice = dice * 1664525 + 1013904223;
    random.push_back(static_cast<char>(1 + (dice >> 16) % 126));
  }
  struct Wrong {
    std::string name, content;
    std::vector<std::string> culprits;
  };
  const std::vector<Wrong> cases = {
      {"empty", "", {"is empty"}},
      {"random", random, {"no decomposition"}},
      {"cut in the header", sound.substr(0, 30), {"header"}},
      {"cut in the data", sound.substr(0, sound.find("9 10 ")), {"rank 2", "truncated"}},
      {"offset out of range", replaced(sound, " 11 ", " 13 "), {"Rank 2", "13", "12 elements"}},
      {"negative offset", replaced(sound, "3 2 1", "-3 2 1"), {"Rank 0", "-3"}},
      {"no number", replaced(sound, "3 2 1", "3 two 1"), {"Rank 0", "two"}},
      {"overlap of two ranks", replaced(sound, " 11 ", " 7 "), {"Element 6", "rank 0", "rank 2"}},
      {"overlap within a rank", replaced(sound, " 11 ", " 9 "), {"Element 8", "twice by rank 2"}},
      {"rank missing", replaced(sound, "1 3\n0 0 0 \n", ""), {"rank 1 of 3 is missing"}},
      {"short line", replaced(sound, "3 2 1 0 7", "3 2 1"), {"Rank 0", "3 entries", "5"}},
      {"wrong number of dims", replaced(sound, "ndims 2", "ndims 3"), {"3 dimensions", "2"}},
  };
  for (const Wrong& one : cases) {
    SCOPED_TRACE(one.name);
    write("a.dat", one.content);
    write("a.nc", "CDF of an earlier run");
    const std::vector<std::string> before = names();
    const Outcome found = run(programs::dat2nc(), {"a.dat"});
    EXPECT_EQ(found.status, ExitStatus::bad_input);
    for (const std::string& culprit : one.culprits) expect_sentence(found.message, culprit);
    expect_sentence(found.message, "a.dat");
    EXPECT_EQ(names(), before);
    EXPECT_EQ(content_of("a.nc"), "CDF of an earlier run");
    world().barrier();
  }
}

TEST_F(Dat2nc, ANetcdfInputIsRefusedByName) {
  write_map("a.dat", extent, rows);
  ASSERT_EQ(run(programs::dat2nc(), {"-q", "a.dat"}).status, ExitStatus::good);
  expect_refused(programs::dat2nc(), {"a.nc", "-o", "b.nc"}, "NetCDF file already");
}

}  // namespace
}  // namespace slabmark

#endif  // SLABMARK_WITH_PNETCDF
