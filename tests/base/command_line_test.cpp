#include "base/command_line.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace slabmark {
namespace {

TEST(CommandLines, RefuseAnEmptyValueByTheOptionsName) {
  const auto parse = [](std::vector<const char*> words) {
    CLI::App app("", "program");
    std::string trials;
    std::vector<std::string> files;
    app.add_subcommand("run")->add_option("--trials", trials);
    app.add_option("files", files);
    words.insert(words.begin(), "program");
    try {
      parse_command_line(app, static_cast<int>(words.size()), words.data());
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("taken");
  };
  EXPECT_EQ(parse({"a", "run", "--trials", "3"}), "taken");
  EXPECT_TRUE(parse({"run", "--trials", ""}).starts_with("--trials is given without a value"));
  EXPECT_TRUE(parse({"run", "--trials="}).starts_with("--trials"));
  EXPECT_TRUE(parse({"a", ""}).starts_with("files is given without"));
}

}  // namespace
}  // namespace slabmark
