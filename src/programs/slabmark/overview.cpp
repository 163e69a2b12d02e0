#include "programs/slabmark/overview.hpp"

#include <string_view>

#include "core/base/version.hpp"
#include "programs/slabmark/verbs.hpp"

namespace slabmark::command {

namespace {

constexpr std::string_view about =
    "Measures, explains and improves how parallel programs move arrays to storage.";
constexpr std::string_view usage = "slabmark VERB [OPTIONS] [ARGUMENTS]";
constexpr std::string_view further =
    "'slabmark VERB --help' lists the options of a verb.\n"
    "'slabmark help VERB' opens its manual page.";
const std::vector<Verb> options = {{"--help", "Print this overview"},
                                   {"--version", "Print the version"}};

std::string rows(const std::string& heading, const std::vector<Verb>& entries) {
  constexpr std::size_t width = 18;
  std::string text = "\n" + heading + ":\n";
  for (const Verb& entry : entries) {
    text += "  " + entry.name + std::string(width - entry.name.size(), ' ') + entry.summary + "\n";
  }
  return text;
}

/// A string of JSON. The texts above are all that it is called for.
std::string json_text(std::string_view text) {
  std::string found = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') found += '\\';
    found += c;
  }
  return found + '"';
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return "[" + text + "]";
}

std::string described(const Verb& verb) {
  return R"({"name": )" + json_text("slabmark " + verb.name) + R"(, "summary": )" +
         json_text(verb.summary) + "}";
}

constexpr std::string_view help_about =
    "Opens the manual page of a verb or program; where there is none, prints its help.";
constexpr std::string_view help_usage = "slabmark help [TOPIC]...";
constexpr std::string_view help_topic = "Verb or program, and perhaps its subcommand";

std::string described_help() {
  return R"({"name": "slabmark help", "summary": "Open the manual page of a verb", "about": )" +
         json_text(help_about) + R"(, "usage": )" + json_text(help_usage) +
         R"(, "arguments": [{"name": "TOPIC", "required": false, "repeated": true, "help": )" +
         json_text(help_topic) + R"(}], "options": [], "commands": []})";
}

std::string described_option(const Verb& option) {
  return R"({"names": [)" + json_text(option.name) +
         R"(], "value": "", "choices": [], "default": "", "required": false, "repeated": false, )"
         R"("group": "", "help": )" +
         json_text(option.summary) + "}";
}

}  // namespace

std::string help_text() {
  std::string text = std::string(about) + "\nUsage: " + std::string(usage) + "\n";
  for (const Group& group : groups()) text += rows(group.heading, group.verbs);
  return text + rows("Options", options) + "\n" + std::string(further) + "\n";
}

std::string help_of_help() {
  return std::string(help_about) + "\nUsage: " + std::string(help_usage) + "\n" +
         rows("Arguments", {{"TOPIC", std::string(help_topic)}});
}

std::string version_text() {
  return "slabmark " + std::string(version()) + ", revision " + std::string(git_revision()) + "\n";
}

std::string description() {
  std::vector<std::string> commands, flags;
  for (const Group& group : groups()) {
    if (group.runner == Runner::itself) continue;
    for (const Verb& verb : group.verbs) commands.push_back(described(verb));
  }
  commands.push_back(described_help());
  for (const Verb& option : options) flags.push_back(described_option(option));
  return R"({"name": "slabmark", "about": )" + json_text(about) + R"(, "summary": "", "usage": )" +
         json_text(usage) + R"(, "arguments": [], "options": )" + joined(flags) +
         R"(, "commands": )" + joined(commands) + "}\n";
}

}  // namespace slabmark::command
