#include "core/command_line/command_line.hpp"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/base/error.hpp"

namespace slabmark {
namespace {

/// The text to print for these words, or the error, or "taken".
std::string outcome(CommandLine& line, std::vector<const char*> words) {
  words.insert(words.begin(), "program");
  try {
    return line.parse(static_cast<int>(words.size()), words.data()).value_or("taken");
  } catch (const InputError& error) {
    return error.what();
  }
}

/// A program with an option and an argument of each kind.
class Example {
 public:
  Example() {
    Command& root = line_.root();
    root.add_text("-f,--file", "FILE", file_, "What to read").required();
    const OptionHandle keep = root.add_flag("--keep", keeps_, "Leave it");
    root.add_flag("--drop", drops_, "Remove it").excludes(keep);
    root.add_count("--steps", steps_, "Time steps", {.min = 1, .max = 9}).retired("--rounds");
    root.add_flag("--debug", drops_, "For us").hidden();
    root.add_arguments("MORE", more_, "Others");
    root.add_command("run", "Run it").add_flag("--fast", fast_, "At once");
  }

  std::string said_to(std::vector<const char*> words) { return outcome(line_, std::move(words)); }
  std::uint64_t steps() const { return steps_; }

 private:
  CommandLine line_{"program", "Does it"};
  std::string file_;
  bool keeps_ = false, drops_ = false, fast_ = false;
  std::uint64_t steps_ = 1;
  std::vector<std::string> more_;
};

// CLI11 2.1 prints it so; later versions otherwise.
TEST(CommandLines, AreExplainedInOneForm) {
  EXPECT_EQ(Example().said_to({"--help"}),
            "Does it\n"
            "Usage: program [OPTIONS] [MORE...] COMMAND\n"
            "\n"
            "Positionals:\n"
            "  MORE ...                    Others\n"
            "\n"
            "Options:\n"
            "  -h,--help                   Print this help message and exit\n"
            "  -f,--file FILE REQUIRED     What to read\n"
            "  --keep Excludes: --drop     Leave it\n"
            "  --drop Excludes: --keep     Remove it\n"
            "  --steps N                   Time steps (1 to 9; default 1)\n"
            "  --version                   Print the versions of the program and its libraries\n"
            "\n"
            "Subcommands:\n"
            "  run                         Run it\n"
            "\n");
}

TEST(CommandLines, AreDescribedAsJson) {
  const auto json = nlohmann::json::parse(Example().said_to({"--describe-options"}));
  EXPECT_EQ(json["usage"], "program [OPTIONS] [MORE...] COMMAND");
  EXPECT_EQ(json["arguments"], nlohmann::json::parse(R"json([
    {"name": "MORE", "required": false, "repeated": true, "help": "Others"}])json"));
  EXPECT_EQ(json["options"].size(), 6u);
  EXPECT_EQ(json["options"][4], nlohmann::json::parse(R"json({
    "names": ["--steps"], "value": "N", "choices": [], "default": "1", "required": false,
    "repeated": false, "group": "", "help": "Time steps (1 to 9)"})json"));
  const auto& run = json["commands"][0];
  EXPECT_EQ(run["name"], "program run");
  EXPECT_EQ(run["summary"], "Run it");
  EXPECT_EQ(run["options"][1]["names"], std::vector<std::string>{"--fast"});
}

TEST(CommandLines, AcceptRetiredNamesAndNameTheNewOnes) {
  for (const std::vector<const char*>& words :
       {std::vector{"--rounds", "3"}, std::vector{"--rounds=3"}}) {
    Example example;
    testing::internal::CaptureStderr();
    std::vector<const char*> all = {"-f", "x"};
    all.insert(all.end(), words.begin(), words.end());
    all.push_back("run");
    EXPECT_EQ(example.said_to(all), "taken");
    EXPECT_THAT(testing::internal::GetCapturedStderr(),
                testing::AnyOf("program: --rounds is now --steps.\n", ""));  // of rank 0
    EXPECT_EQ(example.steps(), 3u);
  }
}

TEST(CommandLines, RefuseAnEmptyValueByTheOptionsName) {
  const auto parse = [](std::vector<const char*> words) {
    CommandLine line("program", "");
    std::string trials;
    std::vector<std::string> files;
    line.root().add_command("run", "").add_text("--trials", "N", trials, "");
    line.root().add_arguments("FILES", files, "");
    return outcome(line, std::move(words));
  };
  EXPECT_EQ(parse({"a", "run", "--trials", "3"}), "taken");
  EXPECT_TRUE(parse({"run", "--trials", ""}).starts_with("--trials is given without a value"));
  EXPECT_TRUE(parse({"run", "--trials="}).starts_with("--trials"));
  EXPECT_TRUE(parse({"run", "--trials"}).starts_with("--trials is given without a value"));
  EXPECT_TRUE(parse({"a", ""}).starts_with("FILES is given without"));
}

TEST(CommandLines, NameWhatIsNotExpectedInItsOrder) {
  const auto refusal = [](std::vector<const char*> words) {
    bool quiet = false;
    CommandLine line("program", "");
    line.root().add_command("run", "").add_flag("--quiet", quiet, "");
    return outcome(line, std::move(words));
  };
  EXPECT_EQ(refusal({"-o", "nodez", "out"}),
            "'-o', 'nodez', 'out' are not expected; 'program --help' lists the options.");
  EXPECT_THAT(refusal({"run", "--quiet", "--trails", "3"}),
              testing::StartsWith("'--trails', '3' are not expected"));
  EXPECT_EQ(refusal({"run", "--quite=1"}),
            "'--quite=1' is not expected; did you mean --quiet? 'program run --help' lists the "
            "options.");
  EXPECT_THAT(refusal({"one"}), testing::StartsWith("'one' is not expected"));
  EXPECT_EQ(refusal({}), "A command is missing: run; 'program --help' describes them.");
}

TEST(CommandLines, NameOptionsAsTheyAreTyped) {
  std::vector<std::string> list;
  const auto parse = [&](std::vector<const char*> words) {
    CommandLine line("program", "");
    std::uint64_t number = 0;
    bool keep = false, fast = false;
    line.root().add_count("-n,--number", number, "");
    line.root().add_flag("-k,--keep", keep, "");
    line.root().add_list("-l,--list", list, "Words");
    std::string file;
    Command& run = line.root().add_command("run", "");
    run.add_text("--file", "FILE", file, "").required();
    line.root().add_command("walk", "").add_flag("--fast", fast, "");
    if (words.empty() || words.back() != std::string("run")) words.push_back("walk");
    return outcome(line, std::move(words));
  };
  EXPECT_THAT(parse({"-n", "1", "-n", "2"}),
              testing::StartsWith("-n,--number is given 2 times; give it once; 'program"));
  EXPECT_EQ(parse({"run"}), "--file is missing; 'program run --help' lists the options.");
  EXPECT_THAT(parse({"--keep=false"}), testing::StartsWith("--keep takes no value; 'program"));
  EXPECT_TRUE(parse({"-n", ""}).starts_with("-n,--number is given without a value"));
  EXPECT_EQ(parse({"--keep", "-l", "a,b", "-l=c"}), "taken");
  EXPECT_THAT(list, testing::ElementsAre("a", "b", "=c"));
  for (const char* text : {"a,,b", ",a", "a,", ","}) {
    EXPECT_THAT(parse({"-l", text, "-k"}), testing::HasSubstr("of -l,--list has nothing")) << text;
  }
  EXPECT_TRUE(parse({"-l", "", "-k"}).starts_with("-l,--list is given without a value"));
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

/// What --help prints, or the error, or "taken" with `values` set.
std::string parse(Values& values, std::vector<const char*> words) {
  CommandLine line("test", "test");
  Command& root = line.root();
  root.add_count("-n,--count", values.count, "Number of things", {.min = 1, .max = 9});
  root.add_count("--other", values.other, "Another");
  root.add_size("--size", values.size, "Bytes");
  root.add_real("--real", "SECONDS", values.real, "Seconds");
  root.add_triple("--triple", values.triple, "Points");
  root.add_word<bool>("--time", values.fixed, "How", {{"grow", false}, {"fixed", true}});
  return outcome(line, std::move(words));
}

TEST(TypedOptions, AreSetAsTheyAreGivenAndKeepTheirDefaultsElse) {
  Values values;
  EXPECT_EQ(parse(values, {"-n", "9", "--other", "0", "--size", "2M", "--time", "fixed"}), "taken");
  EXPECT_EQ(values.count, 9u);
  EXPECT_EQ(values.other, 0u);
  EXPECT_EQ(values.size, 2u << 20);
  EXPECT_EQ(values.real, 0.5);
  EXPECT_EQ(values.triple[2], 3u);
  EXPECT_TRUE(values.fixed);
  EXPECT_EQ(parse(values, {"--real", "1e3", "--triple", "4x5x6"}), "taken");
  EXPECT_EQ(values.real, 1000.0);
  EXPECT_EQ(values.triple[0], 4u);
}

TEST(TypedOptions, ShowRangeAndDefaultInTheHelpText) {
  Values values;
  const auto help = parse(values, {"--help"});
  EXPECT_THAT(help, HasSubstr("Number of things (1 to 9; default 3)"));
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
