#include "core/json/json.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace slabmark {

struct Point {
  int x = 0, y = 0;
};
static void to_json(Json& json, const Point& point) { json = {point.x, point.y}; }
static void from_json(const Json& json, Point& point) { point = {json.at(0), json.at(1)}; }

namespace {

std::string refusal(const auto& act) {
  try {
    act();
  } catch (const JsonError& error) {
    return error.what();
  }
  return "";
}

TEST(Json, IsWrittenInOneLineWithSortedMembers) {
  const Json json = {
      {"b", {1, -2, 2.5, 1e300}}, {"a", {{"yes", true}, {"none", nullptr}}}, {"c", "x\n"}};
  EXPECT_EQ(json.dump(), R"({"a":{"none":null,"yes":true},"b":[1,-2,2.5,1e+300],"c":"x\n"})");
  EXPECT_EQ(Json::array().dump() + Json::object().dump() + Json().dump(), "[]{}null");
  EXPECT_EQ(Json({"one", "two"}).dump(), R"(["one","two"])");  // not an object of one member
  EXPECT_EQ(Json::array({"one", 2}).dump(), R"(["one",2])");
}

TEST(Json, WritesWhatJsonDoesNotHaveAsTheLibraryDoes) {
  EXPECT_EQ(Json(std::numeric_limits<double>::infinity()).dump(), "null");
  EXPECT_EQ(Json("a\xFFz").dump(), "\"a\xEF\xBF\xBDz\"");
  EXPECT_EQ(Json(1.0).dump(), "1.0");
  EXPECT_EQ(Json(std::numeric_limits<std::uint64_t>::max()).dump(), "18446744073709551615");
}

TEST(Json, ReadsWhatItWrote) {
  const std::string text =
      R"({"a":[{"x":1},[],{},null,false,"\u0000\"é"],"b":-3,"c":0.1,"d":18446744073709551615})";
  const Json json = Json::parse(text);
  EXPECT_EQ(Json::parse(json.dump()), json);
  EXPECT_EQ(json["a"][0]["x"], 1);
  EXPECT_EQ(json["a"].size(), 6U);
  EXPECT_EQ(json["d"].get<std::uint64_t>(), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(json["b"].get<int>(), -3);
  EXPECT_TRUE(json["d"].is_number_unsigned());
  EXPECT_FALSE(json["b"].is_number_unsigned());
}

TEST(Json, RefusesTextThatIsNotJson) {
  for (const char* text : {"", "{", "[1,]", "{\"a\":1} x", "\"\xFF\"", "nul"}) {
    EXPECT_FALSE(Json::parse_if_valid(text)) << text;
    EXPECT_NE(refusal([&] { Json::parse(text); }).find("parse error"), std::string::npos) << text;
  }
  EXPECT_FALSE(Json::parse_if_valid(std::string(100000, '[')));
  EXPECT_EQ(refusal([] { Json::parse(std::string(100000, '[')); }), "values are nested too deeply");
}

TEST(Json, ConvertsContainersAndTypesWithFunctionsOfTheirOwn) {
  const std::map<std::string, std::vector<int>> lists = {{"a", {1, 2}}, {"b", {}}};
  EXPECT_EQ(Json(lists).dump(), R"({"a":[1,2],"b":[]})");
  EXPECT_EQ(Json(std::array{1.5, 2.0}).dump(), "[1.5,2.0]");
  const Json points = std::vector<Point>{{1, 2}, {3, 4}};
  EXPECT_EQ(points.dump(), "[[1,2],[3,4]]");
  EXPECT_EQ(points.get<std::vector<Point>>()[1].y, 4);
  EXPECT_EQ((Json{{"x", {"a", "b"}}})["x"].get<std::vector<std::string>>()[1], "b");
}

TEST(Json, NumbersAreEqualByValue) {
  EXPECT_EQ(Json(1), Json(1U));
  EXPECT_EQ(Json(1), Json(1.0));
  EXPECT_NE(Json(1), Json(true));
  EXPECT_NE(Json(1), Json("1"));
  EXPECT_EQ(Json("a"), "a");
  EXPECT_EQ((Json{{"a", 1}, {"b", 2}}), (Json{{"b", 2U}, {"a", 1.0}}));
}

TEST(Json, MembersAreAddedMergedAndErased) {
  Json json;
  json["a"]["b"] = 1;
  json["list"].push_back("x");
  json.merge({{"a", {{"c", 2}}}, {"list", Json::array()}});
  EXPECT_EQ(json.dump(), R"({"a":{"b":1,"c":2},"list":[]})");
  json.erase("list");
  EXPECT_FALSE(json.contains("list"));
  EXPECT_EQ(json.value("list", "none"), "none");
  EXPECT_EQ(json.value("a", Json())["c"], 2);
  for (auto& [key, value] : json["a"].items()) value = key;
  EXPECT_EQ(json.dump(), R"({"a":{"b":"b","c":"c"}})");
}

TEST(Json, SaysWhatIsMissingOrOfAnotherKind) {
  const Json json = {{"a", {1, 2}}};
  EXPECT_EQ(refusal([&] { json.at("b"); }), "there is no 'b'");
  EXPECT_EQ(refusal([&] { json["a"].at(2); }), "there is no element 2");
  EXPECT_EQ(refusal([&] { json["a"].get<std::string>(); }), "there is an array in place of a text");
  EXPECT_EQ(refusal([&] { json["a"][0].at("x"); }), "there is a number in place of an object");
  EXPECT_EQ(refusal([&] {
              for (const Json& one : json) one.dump();
            }),
            "there is an object in place of an array");
}

}  // namespace
}  // namespace slabmark
