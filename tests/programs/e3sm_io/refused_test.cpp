#if SLABMARK_WITH_PNETCDF

#include <numeric>

#include "programs/run_here.hpp"

namespace slabmark {
namespace {

using E3smIo = ProgramTest;

TEST_F(E3smIo, WrongUsageIsOneSentenceBeforeAnyFile) {
  const std::string map = make_map();
  std::vector<Refused> cases = {
      {"-n 0", {"-n", "0"}, "-n"},
      {"-n x", {"-n", "x"}, "-n"},
      {"-n -3", {"-n", "-3"}, "-n"},
      {"-n 2.5", {"-n", "2.5"}, "-n"},
      {"unknown option", {"--frobnicate"}, "frobnicate"},
      {"unknown method", {"--methods", "pnetcdf-varm"}, "pnetcdf-var"},
      {"method twice", {"--methods", "varn,varn"}, "twice"},
      {"hint without value", {"--hint", "cb_nodes"}, "key=value"},
      {"hint with an empty value", {"--hint", "cb_nodes="}, "cb_nodes"},
      {"hint that MPI-IO divides by", {"--hint", "cb_buffer_size=0"}, "cb_buffer_size"},
      {"hint for a call a byte", {"--hint", "ind_wr_buffer_size=1"}, "ind_wr_buffer_size"},
      {"hint that is negative", {"--hint", "striping_unit=-5"}, "striping_unit"},
      {"more trials than memory", {"--trials", "18446744073709551615"}, "--trials"},
      {"no value of trials", {"--trials", ""}, "--trials"},
      {"no value of records", {"--json", ""}, "--json"},
      {"unknown method option", {"--set", "pnetcdf.blocknig=on"}, "pnetcdf.blocking"},
      {"no such map in the file", {"--map", "4"}, "no map 4"},
      {"output directory missing", {"-o", "nowhere/out.nc"}, "nowhere"},
      {"output beyond a file", {"-o", "/dev/null/out.nc"}, "/dev/null"},
      {"both types", {"--float", "--double"}, "--float"},
  };
  for (Refused& one : cases) {
    if (std::find(one.words.begin(), one.words.end(), "-o") == one.words.end()) {
      one.words.insert(one.words.end(), {"-o", here()});
    }
    one.words.insert(one.words.end(), {"-q", map});
  }
  cases.push_back({"no map", {"-q"}, "input_file"});
  expect_all_refused(programs::e3sm_io(), cases);
}

std::string text_map(const std::vector<std::pair<int, std::string>>& ranks) {
  std::string text = "version 2001 npes 2 ndims 1 \n6 \n";
  for (const auto& [rank, entries] : ranks) {
    const auto count = std::count(entries.begin(), entries.end(), ' ') + 1;
    text += fmt::format("{} {}\n{} \n", rank, count, entries);
  }
  return text + "\n";
}

TEST_F(E3smIo, ABadMapIsOneSentenceThatNamesIt) {
  std::string good;
  prepare([&](const Comm& alone) {
    const Words words = {"generate",     "f",      "--ne=2", "--ranks=16", "--map-index=3",
                         "--map-layout", "single", "-o",     "single.nc"};
    ASSERT_EQ(run_here(alone, programs::decomp(), words).status, ExitStatus::good);
    good = content_of("single.nc");
  });
  std::string bytes(244, '\0');
  std::iota(bytes.begin(), bytes.end(), '\7');
  std::string random;
  for (int i = 0; i < 40; ++i) random += bytes;
  const std::string two = text_map({{0, "1 2 3"}, {1, "4 5 6"}});
  const std::string first = text_map({{0, "1 2 3"}});
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"empty", ""},
      {"random bytes", random},
      {"cut in the header", good.substr(0, 300)},
      {"cut in the data", good.substr(0, good.size() - good.size() / 4)},
      {"offset out of range", text_map({{0, "1 2 3"}, {1, "4 5 7"}})},
      {"negative offset", text_map({{0, "1 2 3"}, {1, "4 -5 6"}})},
      {"element twice in a rank", text_map({{0, "1 2 2"}, {1, "4 5 6"}})},
      {"element of two ranks", text_map({{0, "1 2 3"}, {1, "3 4 5 6"}})},
      {"rank missing", first},
      {"fewer entries than announced", first.substr(0, first.size() - 1) + "1 9\n4 5 6 \n\n"},
      {"text cut in a line", two.substr(0, two.size() - 8)},
      {"not a decomposition", std::string("CDF\x01", 4) + std::string(28, '\0')},
  };
  for (const auto& [name, content] : cases) {
    SCOPED_TRACE(name);
    write("bad.map", content);
    const auto output =
        expect_refused(programs::e3sm_io(), {"-q", "bad.map", "-o", here()}, "bad.map");
    EXPECT_THAT(output, testing::Not(testing::HasSubstr("benchmarking")));
  }
}

}  // namespace
}  // namespace slabmark

#endif  // SLABMARK_WITH_PNETCDF
