#include "bench/method/options.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace slabmark {
namespace {

enum class Shape { round, square };

struct Values {
  bool flag = true;
  std::uint64_t bytes = 32 << 10;
  std::optional<std::uint64_t> writers;
  double seconds = 0.5;
  Shape shape = Shape::square;
  int in_array[2] = {3, 4};
};

OptionTable<Values> table() {
  OptionTable<Values> all;
  all.add("a.flag", &Values::flag, "a flag");
  all.add("a.bytes", &Values::bytes, "a size", Size{1, 1 << 20, "more is a lot"});
  all.add("a.writers", &Values::writers, "a number, or what is best", SizeOr{"auto", {.min = 1}});
  all.add("a.seconds", &Values::seconds, "a time");
  all.add("a.shape", &Values::shape, "a shape",
          Words<Shape>{{{"round", Shape::round}, {"square", Shape::square}}});
  all.add(
      "a.second", [](Values& values) -> int& { return values.in_array[1]; }, "one of several");
  return all;
}

Values read(const std::string& name, const std::string& value) {
  return table().read({{{name, value}}, {}});
}

std::string refusal(const std::string& name, const std::string& value) {
  try {
    read(name, value);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Options, WhatIsNotSetIsWhatTheStructHolds) {
  const Values values = table().read({});
  EXPECT_TRUE(values.flag);
  EXPECT_EQ(values.bytes, 32u << 10);
  EXPECT_EQ(values.writers, std::nullopt);
  EXPECT_EQ(values.seconds, 0.5);
  EXPECT_EQ(values.shape, Shape::square);
}

TEST(Options, TheTableShowsWhatTheStructHolds) {
  std::map<std::string, std::string> defaults;
  std::map<std::string, std::string> accepted_values;
  for (const OptionInfo& option : std::vector<OptionInfo>(table())) {
    defaults[option.name] = option.default_text;
    accepted_values[option.name] = option.accepted_values;
  }
  EXPECT_EQ(defaults, (std::map<std::string, std::string>{{"a.flag", "on"},
                                                          {"a.bytes", "32K"},
                                                          {"a.writers", "auto"},
                                                          {"a.seconds", "0.5"},
                                                          {"a.shape", "square"},
                                                          {"a.second", "4"}}));
  EXPECT_EQ(accepted_values,
            (std::map<std::string, std::string>{{"a.flag", "on or off"},
                                                {"a.bytes", "1 to 1M"},
                                                {"a.writers", "auto, or 1 or more"},
                                                {"a.seconds", "a number"},
                                                {"a.shape", "round or square"},
                                                {"a.second", "0 or more"}}));
}

TEST(Options, AFlagTakesTheUsualWordsAndNoOthers) {
  for (const auto* word : {"on", "true", "yes", "1"}) EXPECT_TRUE(read("a.flag", word).flag);
  for (const auto* word : {"off", "false", "no", "0"}) EXPECT_FALSE(read("a.flag", word).flag);
  EXPECT_EQ(refusal("a.flag", "maybe"), "Option a.flag is 'maybe'; it takes on or off.");
}

TEST(Options, EachKindReadsItsValues) {
  EXPECT_EQ(read("a.bytes", "4K").bytes, 4096u);
  EXPECT_EQ(read("a.writers", "3").writers, 3u);
  EXPECT_EQ(read("a.writers", "auto").writers, std::nullopt);
  EXPECT_EQ(read("a.seconds", "0.25").seconds, 0.25);
  EXPECT_EQ(read("a.shape", "round").shape, Shape::round);
  EXPECT_EQ(read("a.second", "7").in_array[1], 7);
}

TEST(Options, AValueOutOfPlaceIsRefusedWithWhatTheOptionTakes) {
  EXPECT_EQ(refusal("a.bytes", "2M"),
            "Option a.bytes is '2M'; it takes 1 to 1M, since more is a lot.");
  EXPECT_EQ(refusal("a.writers", "0"), "Option a.writers is '0'; it takes 1 or more.");
  EXPECT_EQ(refusal("a.shape", "flat"), "Option a.shape is 'flat'; it takes round or square.");
  EXPECT_NE(refusal("a.seconds", "4K"), "no error");
  EXPECT_NE(refusal("a.bytes", "few"), "no error");
}

TEST(Options, ATableWithoutAnOptionDoesNotReadIt) {
  const Settings settings{{{"a.flag", "off"}, {"a.bytes", "1"}}, {}};
  EXPECT_TRUE(table().without({"a.flag"}).read(settings).flag);
  EXPECT_EQ(table().without({"a.flag"}).read(settings).bytes, 1u);
  EXPECT_FALSE(table().only({"a.flag"}).read(settings).flag);
  EXPECT_EQ(table().only({"a.flag"}).read(settings).bytes, 32u << 10);
}

}  // namespace
}  // namespace slabmark
