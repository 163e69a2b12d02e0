#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/command_line/model.hpp"

namespace slabmark {

namespace {

using nlohmann::ordered_json;

/// The text behind the names in the help.
std::string value_and_rules(const OptionModel& option) {
  std::string text;
  if (!option.value.empty()) {
    if (!option.choices.empty()) {
      text = " " + alternatives(option.choices);
    } else if (!option.is_argument()) {
      text = " " + option.value;
    }
    if (option.is_repeated) text += " ...";
    if (option.is_required) text += " REQUIRED";
  }
  if (!option.excludes.empty()) text += " Excludes:";
  for (const std::string& other : option.excludes) text += " " + other;
  return text;
}

/// "Time steps (1 to 9; default 1)".
std::string help_with(const OptionModel& option, bool with_default) {
  std::string notes = option.range;
  if (with_default && !option.default_text.empty()) {
    notes += (notes.empty() ? "default " : "; default ") + option.default_text;
  }
  return notes.empty() ? option.help : fmt::format("{} ({})", option.help, notes);
}

/// An option or a subcommand in the help text.
std::string entry(const std::string& what, const std::string& text) {
  constexpr std::size_t width = 28;
  if (what.size() >= width) return fmt::format("  {}\n  {:{}}{}\n", what, "", width, text);
  return fmt::format("  {:{}}{}\n", what, width, text);
}

ordered_json described(const OptionModel& option) {
  ordered_json json;
  if (option.is_argument()) {
    json["name"] = option.value;
  } else {
    json["names"] = option.names;
    json["value"] = option.value;
    json["choices"] = option.choices;
    json["default"] = option.default_text;
  }
  json["required"] = option.is_required;
  json["repeated"] = option.is_repeated;
  if (!option.is_argument()) json["group"] = "";
  json["help"] = help_with(option, false);
  return json;
}

ordered_json described(const CommandModel& command, bool is_root) {
  ordered_json json = {{"name", command.name},
                       {"about", command.about},
                       {"summary", is_root ? "" : command.about},
                       {"usage", usage_of(command)},
                       {"arguments", ordered_json::array()},
                       {"options", ordered_json::array()},
                       {"commands", ordered_json::array()}};
  for (const OptionModel& option : command.options) {
    if (!option.is_hidden) {
      json[option.is_argument() ? "arguments" : "options"].push_back(described(option));
    }
  }
  for (const CommandModel& below : command.commands) {
    json["commands"].push_back(described(below, false));
  }
  return json;
}

}  // namespace

std::string OptionModel::shown_name() const {
  return is_argument() ? value : fmt::format("{}", fmt::join(names, ","));
}

const std::string& OptionModel::long_name() const {
  for (const std::string& name : names) {
    if (name.starts_with("--")) return name;
  }
  return is_argument() ? value : names.front();
}

const std::string& OptionModel::successor_of(const std::string& name) const {
  return !name.starts_with("--") && !names.front().starts_with("--") ? names.front() : long_name();
}

std::string usage_of(const CommandModel& command) {
  std::string usage = command.name + " [OPTIONS]";
  for (const OptionModel& option : command.options) {
    if (!option.is_argument()) continue;
    const std::string shown = option.value + (option.is_repeated ? "..." : "");
    usage += option.is_required ? " " + shown : " [" + shown + "]";
  }
  return command.commands.empty() ? usage : usage + " " + command.kind;
}

std::string help_text(const CommandModel& command) {
  std::string arguments, options, commands;
  for (const OptionModel& option : command.options) {
    if (option.is_hidden) continue;
    (option.is_argument() ? arguments : options) +=
        entry(option.shown_name() + value_and_rules(option), help_with(option, true));
  }
  for (const CommandModel& below : command.commands) commands += entry(below.word(), below.about);
  std::string text = fmt::format("{}\nUsage: {}\n", command.about, usage_of(command));
  const auto add = [&text](const char* heading, const std::string& entries) {
    if (!entries.empty()) text += fmt::format("\n{}:\n{}", heading, entries);
  };
  add("Positionals", arguments);
  add("Options", options);
  add("Subcommands", commands);
  return text + "\n";
}

std::string description(const CommandModel& command) {
  return described(command, true).dump() + "\n";
}

}  // namespace slabmark
