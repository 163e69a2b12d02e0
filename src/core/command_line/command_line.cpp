#include "core/command_line/command_line.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <ranges>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/base/launched_rank.hpp"
#include "core/base/nearest.hpp"
#include "core/base/number.hpp"
#include "core/command_line/model.hpp"

namespace slabmark {

namespace {

constexpr const char* help_of_help = "Print this help message and exit";

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  for (const auto part : std::views::split(text, ',')) parts.emplace_back(part.begin(), part.end());
  return parts;
}

OptionModel& add_model(CommandModel& command, std::vector<std::string> names,
                       const std::string& value, const std::string& help) {
  OptionModel& model = command.options.emplace_back();
  model.names = std::move(names);
  model.value = value;
  model.help = help;
  return model;
}

/// An option of one value.
OptionModel& add_single(CommandModel& command, const std::string& names, const std::string& kind,
                        const std::string& help, std::function<void(const std::string&)> take) {
  OptionModel& model = add_model(command, split(names), kind, help);
  const CLI::callback_t callback = [take = std::move(take)](const CLI::results_t& given) {
    if (!given.front().empty()) take(given.front());  // else refused by the option's name
    return true;
  };
  model.parser = command.parser->add_option(names, callback);
  return model;
}

/// An option of several values, which may be repeated.
OptionModel& add_repeated(CommandModel& command, const std::string& names, const std::string& kind,
                          const std::string& help,
                          const std::function<void(const std::vector<std::string>&)>& take) {
  OptionModel& model = add_model(command, split(names), kind, help);
  model.is_repeated = true;
  model.parser = command.parser->add_option_function<std::vector<std::string>>(names, take);
  return model;
}

/// The command that was given of those below, and so on.
CommandModel& innermost(CommandModel& command) {
  for (CommandModel& below : command.commands) {
    if (below.parser->parsed()) return innermost(below);
  }
  return command;
}

/// Calls `visit` for each option of the commands that were given, the innermost last.
template <class Visit>
void visit_options(CommandModel& command, const Visit& visit) {
  for (OptionModel& option : command.options) {
    if (option.parser != nullptr) visit(option);
  }
  for (CommandModel& below : command.commands) {
    if (below.parser->parsed()) visit_options(below, visit);
  }
}

/// An empty value is a script's unset variable, and would pass for an option that was not given.
void refuse_empty_values(CommandModel& root) {
  visit_options(root, [](const OptionModel& option) {
    const auto& given = option.parser->results();
    if (std::find(given.begin(), given.end(), "") == given.end()) return;
    throw InputError(fmt::format("{} is given without a value; give it one, or leave it out.",
                                 option.shown_name()));
  });
}

/// An error in the number of values of an option, in words for users; empty: something else.
std::string wrong_count(CommandModel& root) {
  std::string found;
  visit_options(root, [&found](const OptionModel& option) {
    const auto given = option.parser->results().size();
    if (option.is_required && given == 0) found = option.shown_name() + " is missing";
    if (!option.is_repeated && given > 1)
      found = fmt::format("{} is given {} times; give it once", option.shown_name(), given);
  });
  return found;
}

const OptionModel* find_option(const CommandModel& command, const std::string& name) {
  for (const OptionModel& option : command.options) {
    if (std::find(option.names.begin(), option.names.end(), name) != option.names.end())
      return &option;
  }
  return nullptr;
}

/// The sentence of the parser, which knows options by one name each, in our words.
std::string reason_of(CommandModel& root, const CLI::ParseError& error) {
  const std::string said = error.what();
  if (const auto at = said.find(" was given a disallowed flag override"); at != said.npos) {
    return "--" + said.substr(0, at) + " takes no value";  // short ones cannot be given any
  }
  if (const auto wrong = wrong_count(root); !wrong.empty()) return wrong;
  const auto* option = find_option(innermost(root), said.substr(0, said.find(':')));
  const bool lacks_value = dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr;
  return lacks_value && option != nullptr ? option->shown_name() + " is given without a value"
                                          : said;
}

/// Of the program or of its command that was given, which has the options.
std::string help_of(CommandModel& root) {
  return fmt::format("'{} --help' lists the options.", innermost(root).name);
}

/// " did you mean --trials?" for a word that is near to one that could stand there.
std::string suggestion_for(const CommandModel& command, const std::string& word) {
  std::vector<std::string> known;
  for (const OptionModel& option : command.options) {
    if (!option.is_hidden) known.push_back(option.long_name());
  }
  for (const CommandModel& below : command.commands) known.push_back(below.word());
  const std::string name = word.substr(0, word.find('='));
  const std::string near = name.size() > 2 ? nearest(name, known) : "";  // -o is near to any letter
  return near.empty() ? "" : fmt::format(" did you mean {}?", near);
}

[[noreturn]] void refuse_words(CommandModel& root, const std::vector<std::string>& words) {
  throw InputError(fmt::format("'{}' {} not expected;{} {}", fmt::join(words, "', '"),
                               words.size() == 1 ? "is" : "are",
                               suggestion_for(innermost(root), words.front()), help_of(root)));
}

/// A command that has others below it needs one of them.
void require_commands(CommandModel& root) {
  const CommandModel& last = innermost(root);
  if (last.commands.empty()) return;
  std::vector<std::string> words;
  for (const CommandModel& below : last.commands) words.push_back(below.word());
  std::string kind = last.kind;
  std::transform(kind.begin(), kind.end(), kind.begin(), [](char c) { return std::tolower(c); });
  throw InputError(fmt::format("A {} is missing: {}; '{} --help' describes them.", kind,
                               alternatives(words), last.name));
}

/// The word with the name of today, if it gives an option by its retired `name`, as in --name,
/// --name=VALUE, -n and -nVALUE; else nothing.
std::optional<std::string> renamed(const std::string& word, const std::string& name,
                                   const std::string& successor) {
  if (!word.starts_with(name)) return std::nullopt;
  const bool is_long = name.starts_with("--");
  if (is_long && word.size() > name.size() && word[name.size()] != '=') return std::nullopt;
  return successor + word.substr(name.size());
}

/// The words with the names of today in place of retired ones, which a line on standard error names
/// once for all ranks.
std::vector<std::string> with_names_of_today(CommandModel& root, int argc,
                                             const char* const* argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  std::set<std::string> told;
  const CommandModel* command = &root;
  for (std::string& word : words) {
    if (word == "--") break;
    for (const CommandModel& below : command->commands) {
      if (below.word() == word) {
        command = &below;
        break;
      }
    }
    for (const OptionModel& option : command->options) {
      for (const std::string& name : option.retired) {
        const auto today = renamed(word, name, option.successor_of(name));
        if (!today) continue;
        word = *today;
        if (!told.insert(name).second || !is_first_rank_of_launch()) continue;
        fmt::print(stderr, "{}: {} is now {}.\n", root.name, name, option.successor_of(name));
      }
    }
  }
  return words;
}

std::string describe(CountRange range) {
  if (range.max != CountRange{}.max) return fmt::format("{} to {}", range.min, range.max);
  return range.min == 0 ? "" : fmt::format("from {}", range.min);
}

/// "64K", as parse_size takes it.
std::string size_text(std::uint64_t bytes) {
  std::size_t power = 0;
  while (power < 4 && bytes > 0 && bytes % 1024 == 0) {
    bytes /= 1024;
    ++power;
  }
  return fmt::format("{}{}", bytes, std::string("KMGT").substr(power - (power > 0), power > 0));
}

}  // namespace

OptionHandle OptionHandle::required() {
  model_->is_required = true;
  model_->parser->required();
  return *this;
}

OptionHandle OptionHandle::excludes(OptionHandle other) {
  model_->parser->excludes(other.model_->parser);
  model_->excludes.push_back(other.model_->long_name());
  other.model_->excludes.push_back(model_->long_name());
  return *this;
}

OptionHandle OptionHandle::existing_file() {
  model_->parser->check(CLI::ExistingFile);
  return *this;
}

OptionHandle OptionHandle::default_text(const std::string& text) {
  model_->default_text = text;
  return *this;
}

OptionHandle OptionHandle::hidden() {
  model_->is_hidden = true;
  return *this;
}

bool OptionHandle::is_given() const { return model_->parser->count() > 0; }

const std::vector<std::string>& OptionHandle::given() const { return model_->parser->results(); }

OptionHandle OptionHandle::retired(const std::string& name) {
  model_->retired.push_back(name);
  return *this;
}

Command& Command::add_command(const std::string& name, const std::string& summary) {
  CommandModel& below = model_->commands.emplace_back();
  below.name = model_->name + " " + name;
  below.about = summary;
  below.parser = model_->parser->add_subcommand(name);
  add_model(below, {"-h", "--help"}, "", help_of_help);
  return below.handle;
}

void Command::call_commands(const char* kind) { model_->kind = kind; }

OptionHandle Command::add_flag(const std::string& names, bool& value, const std::string& help) {
  return add_flag(
      names, [&value] { value = true; }, help);
}

OptionHandle Command::add_flag(const std::string& names, std::function<void()> when_given,
                               const std::string& help) {
  OptionModel& model = add_model(*model_, split(names), "", help);
  model.parser = model_->parser->add_flag_callback(names, std::move(when_given));
  model.parser->disable_flag_override();  // "--keep=false" is no way to leave it out
  return OptionHandle(model);
}

OptionHandle Command::add_text(const std::string& names, const char* kind, std::string& value,
                               const std::string& help) {
  const auto take = [&value](const std::string& text) { value = text; };
  return OptionHandle(add_single(*model_, names, kind, help, take)).default_text(value);
}

OptionHandle Command::add_texts(const std::string& names, const char* kind,
                                std::vector<std::string>& values, const std::string& help) {
  const auto take = [&values](const std::vector<std::string>& given) { values = given; };
  return OptionHandle(add_repeated(*model_, names, kind, help, take));
}

OptionHandle Command::add_each(const std::string& names, const char* kind,
                               std::function<void(const std::string& text)> take,
                               const std::string& help) {
  const auto take_all = [take = std::move(take)](const std::vector<std::string>& given) {
    for (const std::string& text : given) take(text);
  };
  return OptionHandle(add_repeated(*model_, names, kind, help, take_all));
}

OptionHandle Command::add_list(const std::string& names, std::vector<std::string>& values,
                               const std::string& help) {
  const auto take = [&values, names](const std::vector<std::string>& given) {
    values.clear();
    for (const std::string& text : given) {
      for (std::string& part : split(text)) {
        if (part.empty() && !text.empty()) {  // an empty text is refused by the option's name
          throw InputError(
              fmt::format("'{}' of {} has nothing between two commas, or at an end; write the "
                          "entry, or leave the comma out.",
                          text, names));
        }
        values.push_back(std::move(part));
      }
    }
  };
  return OptionHandle(add_repeated(*model_, names, "LIST", help, take))
      .default_text(fmt::format("{}", fmt::join(values, ",")));
}

OptionHandle Command::add_argument(const char* name, std::string& value, const std::string& help) {
  OptionModel& model = add_model(*model_, {}, name, help);
  model.parser = model_->parser->add_option(name, value);
  return OptionHandle(model);
}

OptionHandle Command::add_arguments(const char* name, std::vector<std::string>& values,
                                    const std::string& help) {
  OptionModel& model = add_model(*model_, {}, name, help);
  model.parser = model_->parser->add_option(name, values);
  model.is_repeated = true;
  return OptionHandle(model);
}

OptionHandle Command::add_parsed(const std::string& names, const char* kind,
                                 std::vector<std::string> choices, const std::string& help,
                                 Parse parse) {
  const auto take = [parse = std::move(parse), names](const std::string& text) {
    parse(text, names);
  };
  OptionModel& model = add_single(*model_, names, kind, help, take);
  model.choices = std::move(choices);
  return OptionHandle(model);
}

OptionHandle Command::add_count(const std::string& names, std::uint64_t& value,
                                const std::string& help, CountRange range) {
  return add_number(names, help, range, [&value](std::uint64_t number) { value = number; })
      .default_text(fmt::to_string(value));
}

OptionHandle Command::add_count(const std::string& names, std::optional<std::uint64_t>& value,
                                const std::string& help, CountRange range) {
  return add_number(names, help, range, [&value](std::uint64_t number) { value = number; });
}

OptionHandle Command::add_number(const std::string& names, const std::string& help,
                                 CountRange range, std::function<void(std::uint64_t)> set) {
  const auto take = [set = std::move(set), names, range](const std::string& text) {
    set(parse_count(text, names, range.min, range.max));
  };
  OptionModel& model = add_single(*model_, names, range.value, help, take);
  model.range = describe(range);
  return OptionHandle(model);
}

OptionHandle Command::add_size(const std::string& names, std::uint64_t& value,
                               const std::string& help) {
  return add_parsed(names, "SIZE", {}, help,
                    [&value](const std::string& text, const std::string& what) {
                      value = parse_size(text, what);
                    })
      .default_text(size_text(value));
}

OptionHandle Command::add_real(const std::string& names, const char* kind, double& value,
                               const std::string& help) {
  return add_parsed(names, kind, {}, help,
                    [&value](const std::string& text, const std::string& what) {
                      value = parse_real(text, what);
                    })
      .default_text(std::isfinite(value) ? fmt::to_string(value) : "no limit");
}

OptionHandle Command::add_triple(const std::string& names, std::array<std::uint64_t, 3>& value,
                                 const std::string& help, bool has_default) {
  return add_parsed(names, "X,Y,Z", {}, help,
                    [&value](const std::string& text, const std::string& what) {
                      value = parse_triple(text, what);
                    })
      .default_text(has_default ? fmt::format("{}", fmt::join(value, ",")) : "");
}

OptionHandle Command::option(const std::string& name) const {
  for (OptionModel& option : model_->options) {
    if (option.long_name() == name) return OptionHandle(option);
  }
  throw std::logic_error("no option " + name);
}

void Command::remove(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    model_->parser->remove_option(model_->parser->get_option(name));
    model_->options.remove_if([&](const OptionModel& one) { return one.long_name() == name; });
  }
}

bool Command::is_given() const { return model_->parser->parsed(); }

std::string Command::word() const { return model_->word(); }

std::map<std::string, std::string> Command::options_given() const {
  std::map<std::string, std::string> given;
  for (const OptionModel& option : model_->options) {
    if (option.parser == nullptr || option.parser->count() == 0) continue;
    given[option.long_name()] = fmt::format("{}", fmt::join(option.parser->results(), ","));
  }
  return given;
}

class CommandLine::Parser {
 public:
  Parser(const std::string& name, const std::string& about) : app_(about, name) {
    root_.name = name;
    root_.about = about;
    root_.parser = &app_;
    add_model(root_, {"-h", "--help"}, "", help_of_help);
  }

  Command& root() { return root_.handle; }

  std::optional<std::string> parse(int argc, const char* const* argv) {
    root().add_flag(
        "--version", [] {}, "Print the versions of the program and its libraries");
    if (argc == 2 && argv[1] == std::string_view("--describe-options")) return description(root_);
    std::vector<std::string> words = with_names_of_today(root_, argc, argv);
    std::reverse(words.begin(), words.end());  // as CLI11 takes them
    try {
      app_.parse(std::move(words));
    } catch (const CLI::CallForHelp&) {
      return help_text(innermost(root_));
    } catch (const CLI::ExtrasError&) {  // whose own text lists them backwards
      refuse_words(root_, app_.remaining(true));
    } catch (const CLI::ParseError& error) {
      throw InputError(fmt::format("{}; {}", reason_of(root_, error), help_of(root_)));
    }
    refuse_empty_values(root_);
    require_commands(root_);
    return std::nullopt;
  }

 private:
  CLI::App app_;
  CommandModel root_;
};

CommandLine::CommandLine(const std::string& name, const std::string& about)
    : parser_(std::make_unique<Parser>(name, about)) {}

CommandLine::~CommandLine() = default;

Command& CommandLine::root() { return parser_->root(); }

std::optional<std::string> CommandLine::parse(int argc, const char* const* argv) {
  return parser_->parse(argc, argv);
}

}  // namespace slabmark
