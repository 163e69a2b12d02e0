#include "bench/pattern/output_table.hpp"

#include <map>
#include <set>

#include <gmock/gmock.h>

#include "core/base/error.hpp"

namespace slabmark {
namespace {

/// Variables on each map of a table, those on none first.
std::vector<std::size_t> users(const OutputTable& table) {
  std::vector<std::size_t> count(table.maps.size() + 1, 0);
  for (const auto& variable : table.variables) ++count[variable.map ? *variable.map + 1 : 0];
  return count;
}

std::size_t attributes(const OutputTable& table) {
  std::size_t count = table.attributes.size();
  for (const auto& variable : table.variables) count += variable.attributes.size();
  return count;
}

TEST(OutputTable, HasTheVariablesOfEachCaseInTheProportionsOfTheApplication) {
  const std::map<std::string, std::vector<std::size_t>> expected = {
      {"f-h0", {27, 1, 323, 63}},
      {"f-h1", {27, 1, 22, 1}},
      {"g", {11, 6, 2, 25, 2, 2, 4}},
      {"i-h0", {14, 465, 75, 4, 1, 1}},
      {"i-h1", {14, 465, 69, 2, 1, 1}}};
  std::set<std::string> names;
  for (const auto& name : output_table_names()) names.insert(name);
  for (const auto& [name, counts] : expected) {
    EXPECT_EQ(users(find_output_table(name)), counts) << name;
    EXPECT_EQ(names.count(name), 1u);
  }
}

TEST(OutputTable, HasAsManyAttributesAsTheApplicationsFile) {
  EXPECT_EQ(attributes(find_output_table("f-h0")), 1421u);
  EXPECT_EQ(attributes(find_output_table("f-h1")), 142u);
  EXPECT_EQ(attributes(find_output_table("g")), 851u);
  EXPECT_EQ(attributes(find_output_table("i-h0")), 2768u);
  EXPECT_EQ(attributes(find_output_table("i-h1")), 2738u);
}

/// Bytes of all variables with one record, where one rank owns all of maps of these extents.
std::uint64_t bytes(const std::string& name, const std::vector<Extent>& extents,
                    ElementType real = ElementType::float64) {
  OutputShare share{.maps = {}, .is_first = true, .real = real, .records = 1};
  for (const Extent& extent : extents) share.maps.push_back(select_all(extent));
  return moved_bytes(make_output_pattern(find_output_table(name), share));
}

TEST(OutputTable, HasTheBytesOfTheApplicationsFile) {
  const std::vector<Extent> atmosphere = {{866}, {866}, {72, 866}};
  EXPECT_EQ(bytes("f-h0", atmosphere), 33673696u);
  EXPECT_EQ(bytes("f-h0", atmosphere, ElementType::float32), 16849048u);
  EXPECT_EQ(bytes("f-h1", atmosphere), 661776u);
  EXPECT_EQ(bytes("f-h1", atmosphere, ElementType::float32), 343088u);
  EXPECT_EQ(bytes("g", {{285}, {879}, {285, 100}, {879, 100}, {593, 100}, {285, 101}}), 8296404u);
  const std::vector<Extent> land = {
      {96, 144}, {15, 96, 144}, {10, 96, 144}, {9, 96, 144}, {17, 96, 144}};
  EXPECT_EQ(bytes("i-h0", land), 183032076u);
  EXPECT_EQ(bytes("i-h0", land, ElementType::float32), 91571368u);
  EXPECT_EQ(bytes("i-h1", land), 170866956u);
  EXPECT_EQ(bytes("i-h1", land, ElementType::float32), 85488808u);
}

/// Variables on maps that have no time, those of int32 second.
std::pair<int, int> fixed_on_maps(const std::string& name) {
  std::pair<int, int> count;
  for (const auto& variable : find_output_table(name).variables) {
    if (variable.has_time || !variable.map) continue;
    ++count.first;
    if (variable.type == ElementType::int32) ++count.second;
  }
  return count;
}

TEST(OutputTable, WritesTheMeshOnce) {
  EXPECT_EQ(fixed_on_maps("f-h0"), std::pair(3, 0));
  EXPECT_EQ(fixed_on_maps("f-h1"), std::pair(3, 0));
  EXPECT_EQ(fixed_on_maps("g"), std::pair(7, 6));
  EXPECT_EQ(fixed_on_maps("i-h0"), std::pair(13, 2));
  EXPECT_EQ(fixed_on_maps("i-h1"), std::pair(5, 2));
}

TEST(OutputTable, TextVariablesAreOfCharacters) {
  for (const auto& name : output_table_names()) {
    std::size_t texts = 0;
    for (const auto& variable : find_output_table(name).variables) {
      EXPECT_NE(variable.type, ElementType::uint8) << name;
      if (variable.type != ElementType::character) continue;
      ++texts;
      EXPECT_EQ(variable.attributes.size(), name == "g" ? 2u : 0u) << name;
    }
    EXPECT_EQ(texts, name == "g" ? 1u : 2u) << name;
  }
}

TEST(OutputTable, NamesNoVariableTwice) {
  for (const auto& name : output_table_names()) {
    std::set<std::string> seen;
    for (const auto& variable : find_output_table(name).variables) {
      EXPECT_TRUE(seen.insert(variable.name).second) << name << ": " << variable.name;
    }
  }
}

TEST(OutputTable, AnUnknownNameIsRefusedWithTheNearest) {
  try {
    find_output_table("f-h00");
    FAIL() << "no error";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("f-h0"), std::string::npos);
  }
}

constexpr const char* small = R"({"summary": "s", "maps": [["col"], ["lev", "col"]],
  "dimensions": {"edge": "lev+1", "pair": 2, "soil": "lev"}, "attributes": {"s": {"count": 2, "text": "x"}, "title": "t"},
  "groups": [
    {"map": 1, "type": "real", "dimensions": ["time", "col"], "attributes": {}, "names": ["a", "b_c"]},
    {"map": 2, "type": "int32", "dimensions": ["soil", "col"], "attributes": {"units": "m"}, "names": ["d"]},
    {"type": "float64", "dimensions": ["time", "edge", "pair"], "names": ["e"]}]})";

OutputShare share_of(bool is_first) {
  OutputShare share;
  share.maps = {select_row_runs({10}, {{2, 3}}), select_row_runs({4, 10}, {{2, 3}, {12, 3}})};
  share.is_first = is_first;
  share.real = ElementType::float32;
  share.records = 2;
  return share;
}

TEST(OutputTable, BecomesAPatternOfRecordsInWhichVariablesOfOneMapShareTheirSelection) {
  const auto table = parse_output_table("small", small);
  const auto pattern = make_output_pattern(table, share_of(true));
  ASSERT_EQ(pattern.datasets.size(), 4u);
  EXPECT_EQ(pattern.datasets[0].type, ElementType::float32);
  EXPECT_TRUE(pattern.datasets[0].has_time);
  EXPECT_EQ(pattern.datasets[1].attributes.back().text, "b c");
  EXPECT_EQ(pattern.datasets[2].type, ElementType::int32);
  EXPECT_EQ(pattern.datasets[3].extent(), (Extent{5, 2}));
  EXPECT_EQ(pattern.datasets[2].dimensions[0].name, "soil");
  EXPECT_EQ(pattern.datasets[2].extent(), (Extent{4, 10}));
  EXPECT_TRUE(pattern.datasets[3].attributes.empty());
  ASSERT_EQ(pattern.attributes.size(), 3u);
  EXPECT_EQ(pattern.attributes[1].name, "s_2");
  EXPECT_EQ(pattern.attributes[1].text, "x");
  EXPECT_EQ(pattern.attributes[2].text, "t");
  const auto first = pattern.transfers(0);
  const auto second = pattern.transfers(1);
  ASSERT_EQ(first.size(), 4u);
  ASSERT_EQ(second.size(), 3u) << "what has no time moves once";
  EXPECT_EQ(first[0].file, first[1].file);
  EXPECT_EQ(second[0].time, 1u);
  EXPECT_EQ(first[3].file->element_count(), 10u);
}

TEST(OutputTable, OnlyTheFirstRankHasWhatNoMapDecomposes) {
  const auto pattern = make_output_pattern(parse_output_table("small", small), share_of(false));
  EXPECT_EQ(pattern.transfers(0)[3].file->element_count(), 0u);
}

TEST(OutputTable, MapsOfAnotherNumberOrLengthAreRefused) {
  const auto table = parse_output_table("small", small);
  auto share = share_of(true);
  share.maps[0] = select_none({11});
  EXPECT_THROW(make_output_pattern(table, share), InputError) << "col is 11 and 10";
  share.maps.pop_back();
  EXPECT_THROW(make_output_pattern(table, share), InputError);
  share = share_of(true);
  share.maps[1] = select_none({40});
  EXPECT_THROW(make_output_pattern(table, share), InputError) << "one dimension instead of two";
}

/// A table whose first group takes `first` names of the family `text`, and whose second takes the
/// next `second`.
OutputTable with_family(const std::string& text, int first, int second) {
  const auto group = [](int next) {
    return R"({"type": "real", "dimensions": [], "names": {"of": "f", "next": )" +
           std::to_string(next) + "}}";
  };
  return parse_output_table("family",
                            R"({"summary": "s", "maps": [], "dimensions": {}, "attributes": {},
      "families": {"f": ")" + text +
                                R"("}, "groups": [)" + group(first) + ", " + group(second) + "]}");
}

TEST(OutputTable, GroupsTakeTheNamesOfAFamilyOneAfterAnother) {
  std::vector<std::string> names;
  for (const auto& variable : with_family("{a,b}_{x,y}{,_z}", 3, 2).variables) {
    names.push_back(variable.name);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"a_x", "a_x_z", "a_y", "a_y_z", "b_x"}));
}

TEST(OutputTable, AFamilyWithTooFewNamesOrAnOpenBraceIsRefused) {
  EXPECT_THROW(with_family("{a,b}_x", 1, 2), InputError);
  EXPECT_THROW(with_family("{a,b_x", 1, 1), InputError);
}

TEST(OutputTable, ATableOfAnotherFormIsAnErrorThatNamesIt) {
  for (const auto* text : {"{", "{}", R"({"summary": 3})"}) {
    try {
      parse_output_table("broken", text);
      FAIL() << text;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("broken"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace slabmark
