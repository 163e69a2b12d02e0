#include <nlohmann/json.hpp>

#include "programs/run_here.hpp"

namespace slabmark {
namespace {

using nlohmann::json;

class DecompMaps : public ProgramTest {
 protected:
  /// Returns the maps of a file that `info` reports on rank 0; an empty array on other ranks.
  json info(const std::string& path, const Words& more = {}) const {
    Words words = {"info", path, "--json", "-"};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome done = run(programs::decomp(), words);
    EXPECT_EQ(done.status, ExitStatus::good) << done.message;
    return world().is_root() ? json::parse(done.output)["maps"] : json::array();
  }

  void expect_fault(const std::vector<std::vector<std::int64_t>>& rows,
                    const std::string& part) const {
    SCOPED_TRACE(part);
    write_map("a.dat", {6}, rows);
    const Outcome done = run(programs::decomp(), {"check", "a.dat"});
    EXPECT_EQ(done.status, ExitStatus::failed);
    if (!world().is_root()) return;
    EXPECT_THAT(done.output, testing::StartsWith("D1: bad: "));
    EXPECT_THAT(done.output, testing::HasSubstr(part));
    EXPECT_EQ(std::count(done.output.begin(), done.output.end(), '\n'), 1);
  }

  /// Maps of a case, in as many files as its format takes.
  json generated(const std::string& model, const std::string& ending, const Words& more) const {
    const std::string path = model + "." + ending;
    Words words = {"generate", model, "--ranks", "4", "-o", path};
    words.insert(words.end(), more.begin(), more.end());
    EXPECT_EQ(run(programs::decomp(), words).status, ExitStatus::good);
    json maps = json::array();
    for (int k = 1; k <= 6; ++k) {
      const std::string file = ending == "nc" ? path : fmt::format("{}_D{}.dat", model, k);
      if (!std::filesystem::exists(file)) break;
      for (const json& map : info(file)) maps.push_back(map);
      if (ending == "nc") break;
    }
    return maps;
  }
};

TEST_F(DecompMaps, CheckNamesAFaultAndFails) {
  expect_fault({{1, 2, 3}, {3, 4}},
               "1 of its 6 elements are owned by more than one rank; the first is element 2 "
               "(counted from 0), of rank 0 and rank 1.\n");
  expect_fault({{1, 2, 2}, {3, 4}}, "Element 1");
  expect_fault({{1, 2}, {3, 7}}, "offset 7");
}

TEST_F(DecompMaps, InfoNamesTwoRanksThatOwnOneElement) {
  write_map("a.dat", {8}, {{1}, {2, 3}, {4, 5}, {3, 5}, {3}});
  for (const Words& more : {Words{}, Words{"--ranks", "2"}}) {
    const json maps = info("a.dat", more);
    if (!world().is_root()) continue;
    EXPECT_EQ(maps.size(), 1u);
    EXPECT_EQ(maps[0]["owned_by_several"], 2);
    EXPECT_EQ(maps[0]["first_owned_by_several"], (json{{"element", 2}, {"ranks", {1, 3}}}));
  }
}

TEST_F(DecompMaps, LandAndOceanAreGenerated) {
  std::vector<std::string> endings = {"dat"};
  if (SLABMARK_WITH_PNETCDF) endings.push_back("nc");
  for (const std::string& ending : endings) {
    SCOPED_TRACE(ending);
    const json land = generated("i", ending, {"--nlat", "24", "--nlon", "36"});
    const json ocean = generated("g", ending, {"--cells", "500", "--levels", "7"});
    if (!world().is_root()) continue;
    std::vector<std::vector<int>> extents;
    for (const json& map : land) {
      extents.push_back(map["dims"]);
      EXPECT_EQ(map["owned_by_several"], 0);
      EXPECT_LT(map["owned"], map["elements"]);
    }
    const std::vector<std::vector<int>> due = {
        {24, 36}, {15, 24, 36}, {10, 24, 36}, {9, 24, 36}, {17, 24, 36}};
    EXPECT_EQ(extents, due);
    std::vector<std::vector<int>> levels;
    for (const json& map : ocean) {
      const std::vector<int> extent = map["dims"];
      levels.emplace_back(extent.begin() + 1, extent.end());
      EXPECT_EQ(map["owned_by_several"], 0);
      EXPECT_EQ(map["owned"], map["elements"]);
    }
    EXPECT_EQ(levels, (std::vector<std::vector<int>>{{}, {}, {7}, {7}, {7}, {8}}));
  }
}

}  // namespace
}  // namespace slabmark
