#include "core/base/command_line.hpp"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace slabmark {
namespace {

/// What these words are refused with, or "taken".
std::string outcome(CLI::App& app, std::vector<const char*> words) {
  words.insert(words.begin(), "program");
  try {
    parse_command_line(app, static_cast<int>(words.size()), words.data());
  } catch (const InputError& error) {
    return error.what();
  }
  return "taken";
}

// CLI11 2.1 prints it so; later versions otherwise.
TEST(CommandLines, AreExplainedInTheFormThatManualPagesAreMadeOf) {
  CLI::App app("Does it.", "program");
  std::string file;
  bool keeps = false, drops = false, hurries = false;
  std::vector<std::string> more;
  app.add_option("-f,--file", file, "What to read")->required();
  auto* const keep = app.add_flag("--keep", keeps, "Leaves it");
  app.add_flag("--drop", drops, "Does not")->excludes(keep);
  app.add_option("more", more, "Others");
  app.add_subcommand("run", "Runs")->add_flag("--fast", hurries, "At once");
  const std::array words = {"program", "--help"};
  EXPECT_EQ(parse_command_line(app, static_cast<int>(words.size()), words.data()).value_or(""),
            "Does it.\n"
            "Usage: program [OPTIONS] [more...] [SUBCOMMAND]\n"
            "\n"
            "Positionals:\n"
            "  more TEXT ...               Others\n"
            "\n"
            "Options:\n"
            "  -h,--help                   Print this help message and exit\n"
            "  -f,--file TEXT REQUIRED     What to read\n"
            "  --keep Excludes: --drop     Leaves it\n"
            "  --drop Excludes: --keep     Does not\n"
            "  --version                   Print the versions of the program and its libraries\n"
            "\n"
            "Subcommands:\n"
            "  run                         Runs\n"
            "\n");
}

TEST(CommandLines, RefuseAnEmptyValueByTheOptionsName) {
  const auto parse = [](std::vector<const char*> words) {
    CLI::App app("", "program");
    std::string trials;
    std::vector<std::string> files;
    app.add_subcommand("run")->add_option("--trials", trials);
    app.add_option("files", files);
    return outcome(app, std::move(words));
  };
  EXPECT_EQ(parse({"a", "run", "--trials", "3"}), "taken");
  EXPECT_TRUE(parse({"run", "--trials", ""}).starts_with("--trials is given without a value"));
  EXPECT_TRUE(parse({"run", "--trials="}).starts_with("--trials"));
  EXPECT_TRUE(parse({"a", ""}).starts_with("files is given without"));
}

TEST(CommandLines, NameWhatIsNotExpectedInItsOrder) {
  const auto refusal = [](std::vector<const char*> words) {
    CLI::App app("", "program");
    app.add_subcommand("run")->add_flag("--quiet");
    return outcome(app, std::move(words));
  };
  EXPECT_EQ(refusal({"-o", "nodez", "out"}),
            "'-o', 'nodez', 'out' are not expected; 'program --help' lists the options.");
  EXPECT_THAT(refusal({"run", "--quiet", "--trails", "3"}),
              testing::StartsWith("'--trails', '3' are not expected"));
  EXPECT_THAT(refusal({"one"}), testing::StartsWith("'one' is not expected"));
}

TEST(CommandLines, NameOptionsAsTheyAreTyped) {
  std::vector<std::string> list;
  const auto parse = [&](std::vector<const char*> words) {
    CLI::App app("", "program");
    int number = 0;
    std::string file;
    app.add_option("-n,--number", number);
    app.add_flag("-k,--keep");
    add_list(app, "-l,--list", list, "Words");
    app.add_subcommand("run")->add_option("--file", file)->required();
    return outcome(app, std::move(words));
  };
  EXPECT_EQ(parse({"-n", "1", "-n", "2"}),
            "-n,--number is given 2 times; give it once; 'program --help' lists the options.");
  EXPECT_EQ(parse({"run"}), "--file is missing; 'program run --help' lists the options.");
  EXPECT_EQ(parse({"--keep=false"}), "--keep takes no value; 'program --help' lists the options.");
  EXPECT_TRUE(parse({"-n", ""}).starts_with("-n,--number is given without a value"));
  EXPECT_EQ(parse({"--keep", "-l", "a,b", "-l", "c"}), "taken");
  EXPECT_THAT(list, testing::ElementsAre("a", "b", "c"));
  for (const char* text : {"a,,b", ",a", "a,", ","}) {
    EXPECT_THAT(parse({"-l", text}), testing::HasSubstr("of -l,--list has nothing")) << text;
  }
  EXPECT_TRUE(parse({"-l", ""}).starts_with("-l,--list is given without a value"));
}

using ::testing::HasSubstr;

struct Values {
  std::uint64_t count = 3;
  std::optional<std::uint64_t> other;
  std::uint64_t size = 65536;
  double real = 0.5;
  std::array<std::uint64_t, 3> triple = {1, 2, 3};
  bool fixed = false;
};

/// What --help prints, or the error, or "" with `values` set.
std::string parse(Values& values, std::vector<const char*> words) {
  CLI::App app("test", "test");
  add_count(app, "-n,--count", values.count, "Number of things", {.min = 1, .max = 9});
  add_count(app, "--other", values.other, "Another");
  add_size(app, "--size", values.size, "Bytes");
  add_real(app, "--real", values.real, "Seconds");
  add_triple(app, "--triple", values.triple, "Points");
  add_word<bool>(app, "--time", values.fixed, "How", {{"grow", false}, {"fixed", true}});
  words.insert(words.begin(), "test");
  try {
    return parse_command_line(app, static_cast<int>(words.size()), words.data()).value_or("");
  } catch (const InputError& error) {
    return error.what();
  }
}

TEST(TypedOptions, AreSetAsTheyAreGivenAndKeepTheirDefaultsElse) {
  Values values;
  EXPECT_EQ(parse(values, {"-n", "9", "--other", "0", "--size", "2M", "--time", "fixed"}), "");
  EXPECT_EQ(values.count, 9u);
  EXPECT_EQ(values.other, 0u);
  EXPECT_EQ(values.size, 2u << 20);
  EXPECT_EQ(values.real, 0.5);
  EXPECT_EQ(values.triple[2], 3u);
  EXPECT_TRUE(values.fixed);
  EXPECT_EQ(parse(values, {"--real", "1e3", "--triple", "4,5,6"}), "");
  EXPECT_EQ(values.real, 1000.0);
  EXPECT_EQ(values.triple[0], 4u);
}

TEST(TypedOptions, ShowRangeAndDefaultInTheHelpText) {
  Values values;
  const auto help = parse(values, {"--help"});
  EXPECT_THAT(help, HasSubstr("1 to 9"));
  EXPECT_THAT(help, HasSubstr("Number of things (default 3)"));
  EXPECT_THAT(help, HasSubstr("Bytes (default 64K)"));
  EXPECT_THAT(help, HasSubstr("Points (default 1,2,3)"));
  EXPECT_THAT(help, HasSubstr("grow or fixed"));
}

TEST(TypedOptions, RefuseWhatIsOutOfRangeOrOfAnotherKindByName) {
  Values values;
  EXPECT_THAT(parse(values, {"-n", "10"}), HasSubstr("--count is \"10\", which is out of range"));
  EXPECT_THAT(parse(values, {"-n", "0x3"}), HasSubstr("is not a whole number"));
  EXPECT_THAT(parse(values, {"--size", "1.5M"}), HasSubstr("--size is \"1.5M\""));
  EXPECT_THAT(parse(values, {"--real", "inf"}), HasSubstr("--real is \"inf\""));
  EXPECT_THAT(parse(values, {"--triple", "1,2"}), HasSubstr("is not three numbers"));
  EXPECT_EQ(parse(values, {"--time", "slow"}), "--time is 'slow'; it takes grow or fixed.");
  EXPECT_EQ(values.count, 3u);
}

}  // namespace
}  // namespace slabmark
