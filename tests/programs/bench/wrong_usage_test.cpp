#include "programs/run_here.hpp"

namespace slabmark {
namespace {

using SlabmarkBench = ProgramTest;

TEST_F(SlabmarkBench, WrongUsageIsOneSentenceBeforeAnyFile) {
  const std::string map = make_map();
  const auto decomp = [&](const Words& more) {
    Words words = {"decomp", "--map", map, "--method", "posix", "-d", here()};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  const auto e3sm = [&](const Words& more) {
    Words words = {"e3sm", "--map", map, "--method", "posix", "-d", here()};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  expect_all_refused(
      programs::bench(),
      {
          {"no pattern", {}, "A pattern is missing"},
          {"unknown pattern", {"decomposition"}, "decomposition"},
          {"no map", {"decomp", "--method", "posix"}, "--map"},
          {"no method", {"decomp", "--map", map}, "--method"},
          {"nearly a method", {"decomp", "--map", map, "--method", "pnetcdf-vran"}, "pnetcdf-varn"},
          {"unknown type", decomp({"--type", "float16"}), "float64"},
          {"no trials", decomp({"--trials", "0"}), "--trials"},
          {"least above most", decomp({"--min-trials", "9", "--max-trials", "6"}), "9"},
          {"no case", e3sm({}), "--case"},
          {"nearly a case", e3sm({"--case", "f-h"}), "f-h0"},
          {"real int32", e3sm({"--case", "g", "--type", "int32"}), "float32"},
          {"rounds x", decomp({"--steps", "x"}), "--steps"},
          {"more rounds than can be looked at", decomp({"--steps", "9223372036854775808"}),
           "1000000"},
          {"nothing between commas",
           {"decomp", "--map", map, "--method", "posix,,mpiio"},
           "posix,,mpiio"},
          {"a value of a flag", decomp({"--keep=false"}), "--keep takes no value"},
          {"records into a directory", decomp({"--json", "/"}), "/"},
          {"reading what only writes",
           {"decomp", "--map", map, "--read", "--method", "whole", "-d", here(), "--no-bound"},
           "only writes"},
      });
}

TEST_F(SlabmarkBench, WrongSlicesAreOneSentence) {
  std::vector<Refused> cases = {
      {"processes", {"--grid-of-ranks", "3,1,1"}, "3 x 1 x 1"},
      {"plane beyond the field", {"--plane", "z=9"}, "--plane"},
      {"no axis", {"--plane", "w=1"}, "w=1"},
      {"no position", {"--plane", "z"}, "--plane"},
      {"empty range", {"--range", "y=3:3"}, "along y"},
      {"range beyond the field", {"--range", "y=3:12"}, "along y"},
      {"half a range", {"--range", "y=3"}, "y=3"},
      {"two ranges of an axis", {"--range", "x=1:3", "--range", "x=2:4"}, "'x=2:4' is the second"},
      {"range along the normal",
       {"--plane", "z=2", "--range", "z=0:3"},
       "'z=0:3' is along the normal"},
      {"trials said twice", {"--trials", "3", "--min-trials", "5"}, "--trials"},
      {"stride 0", {"--stride", "0,1,1"}, "--stride"},
      {"stride beyond the field", {"--stride", "1,12,1"}, "along y"},
      {"two strides", {"--stride", "2,2"}, "--stride"},
      {"no outputs", {"--steps", "0"}, "--steps"},
      {"halos of a plane", {"--with-halos", "--plane", "z=4"}, "--with-halos"},
      {"type", {"--type", "float16"}, "--type"},
  };
  for (Refused& one : cases) {
    one.words.insert(one.words.begin(), {"slice", "--grid", "13,11,9", "--halo", "2", "--method",
                                         "posix", "-d", here()});
  }
  expect_all_refused(programs::bench(), cases);
}

}  // namespace
}  // namespace slabmark
