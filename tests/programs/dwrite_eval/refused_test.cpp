#include "programs/run_here.hpp"

namespace slabmark {
namespace {

using DwriteEval = ProgramTest;

TEST_F(DwriteEval, WrongUsageIsOneSentenceBeforeAnyFile) {
  const std::string map = make_map();
  std::vector<Refused> cases = {
      {"-n 0", {"-n", "0"}, "-n"},
      {"-n x", {"-n", "x"}, "-n"},
      {"unknown option", {"--frobnicate"}, "frobnicate"},
      {"unknown method", {"--methods", "frobnicate"}, "frobnicate"},
      {"method twice", {"--methods", "hdf5-slab,hdf5-slab"}, "hdf5-slab twice"},
      {"unknown connector", {"--connector", "async"}, "async"},
      {"both modes", {"--collective", "--independent"}, "--independent"},
      {"mode said twice", {"--independent", "--set", "hdf5.collective=on"}, "hdf5.collective"},
      {"an output beyond a file", {"-o", "/dev/null/out"}, "/dev/null/out"},
      {"an output that cannot be made", {"-o", "/proc/nowhere/out"}, "/proc/nowhere/out"},
  };
  for (Refused& one : cases) {
    if (one.words.front() != "-o") one.words.insert(one.words.end(), {"-o", "out"});
    one.words.insert(one.words.end(), {"-c", map});
  }
  expect_all_refused(programs::dwrite_eval(), cases);
}

TEST_F(DwriteEval, AFileThatIsNoDecompositionIsNamedAndLeavesNoDirectory) {
  std::string sound;
  const std::string path = make_map();
  prepare([&](const Comm&) { sound = content_of(path); });
  write("truncated.nc", sound.substr(0, sound.size() / 2));
  write("header_cut.nc", sound.substr(0, 40));
  write("prose.nc", "It was a dark and stormy night.\n");
  write("empty.nc", "");
  write("other.nc", std::string("CDF\x01", 4) + std::string(28, '\0'));  // valid, and holds nothing
  write_map("overlap.dat", {6}, {{1, 2, 3}, {3, 4, 5, 6}});
  for (const char* name : {"missing.nc", "truncated.nc", "header_cut.nc", "prose.nc", "empty.nc",
                           "other.nc", "overlap.dat"}) {
    SCOPED_TRACE(name);
    const auto output =
        expect_refused(programs::dwrite_eval(), {"-c", name, "-n", "3", "-o", "a/b"}, name);
    EXPECT_THAT(output, testing::Not(testing::HasSubstr("(mean)")));
  }
}

}  // namespace
}  // namespace slabmark
