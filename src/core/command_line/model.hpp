#pragma once

#include <deque>
#include <list>
#include <string>
#include <vector>

#include "core/command_line/command_line.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace slabmark {

/// An option, flag or argument, beside CLI11's, whose text of the help changed with its versions.
struct OptionModel {
  std::vector<std::string> names;    ///< as they are typed; none of an argument
  std::string value;                 ///< kind of the value, such as FILE; empty: a flag
  std::vector<std::string> choices;  ///< that the value is one of; none: anything of its kind
  std::string range;                 ///< "1 to 9"; may be empty
  std::string default_text;
  std::string help;
  bool is_required = false;
  bool is_repeated = false;
  bool is_hidden = false;
  std::vector<std::string> excludes;  ///< names
  std::vector<std::string> retired;   ///< names
  CLI::Option* parser = nullptr;      ///< none of --help, which is CLI11's own

  bool is_argument() const { return names.empty(); }
  /// "-o,--output", or the name of an argument.
  std::string shown_name() const;
  /// "--output" of these.
  const std::string& long_name() const;
  /// The replacement of a retired name: of the short names for a short one, if there is one.
  const std::string& successor_of(const std::string& name) const;
};

struct CommandModel {
  std::string name;              ///< in full, such as "slabmark bench decomp"
  std::string about;             ///< what it does
  std::string kind = "COMMAND";  ///< of the commands below
  std::list<OptionModel> options;
  std::deque<CommandModel> commands;
  CLI::App* parser = nullptr;
  Command handle{*this};

  std::string word() const { return name.substr(name.rfind(' ') + 1); }
};

/// "slabmark bench decomp [OPTIONS] MAP".
std::string usage_of(const CommandModel& command);

/// The text of --help.
std::string help_text(const CommandModel& command);

/// The command and those below it as a JSON object: "name", "about", "summary", "usage",
/// "arguments", "options" and "commands". Manual pages, completions and the reference are made of
/// it.
std::string description(const CommandModel& command);

}  // namespace slabmark
