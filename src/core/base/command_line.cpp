#include "core/base/command_line.hpp"

#include <cmath>
#include <ranges>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/base/number.hpp"

namespace slabmark {

namespace {

/// "-n,--variables", or what stands for a value without one.
std::string names_of(const CLI::Option& option) { return option.get_name(false, true); }

/// An empty value is a script's unset variable, and would pass for an option that was not given.
void refuse_empty_values(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& value : option->results()) {
      if (!value.empty()) continue;
      throw InputError(fmt::format("{} is given without a value; give it one, or leave it out.",
                                   names_of(*option)));
    }
  }
  for (const CLI::App* command : app.get_subcommands()) refuse_empty_values(*command);
}

/// Flags are given or not: "--keep=false" is no way to say the latter.
void refuse_values_of_flags(CLI::App& app) {
  for (CLI::Option* option : app.get_options([](CLI::Option*) { return true; })) {
    if (option->get_items_expected_max() == 0) option->disable_flag_override();
  }
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) {
    refuse_values_of_flags(*command);
  }
}

/// What is wrong with the number of values of an option, in words for users; empty: something else.
std::string wrong_count(const CLI::App& app) {
  for (const CLI::App* command : app.get_subcommands()) {
    if (auto found = wrong_count(*command); !found.empty()) return found;
  }
  for (const CLI::Option* option : app.get_options()) {
    const auto given = option->results().size();
    if (option->get_required() && given == 0)
      return fmt::format("{} is missing", names_of(*option));
    if (option->get_items_expected_max() == 1 && given > 1)
      return fmt::format("{} is given {} times; give it once", names_of(*option), given);
  }
  return "";
}

/// The sentence of the parser, which knows options by one name each, in our words.
std::string reason_of(const CLI::App& app, const CLI::ParseError& error) {
  const std::string said = error.what();
  if (const auto at = said.find(" was given a disallowed flag override"); at != said.npos) {
    return "--" + said.substr(0, at) + " takes no value";  // short ones cannot be given any
  }
  const auto wrong = wrong_count(app);
  return wrong.empty() ? said : wrong;
}

/// Of the program or of its subcommand that was given, which has the options.
std::string help_of(const CLI::App& app) {
  std::string name = app.get_name();
  for (const CLI::App* command : app.get_subcommands()) name += " " + command->get_name();
  return fmt::format("'{} --help' lists the options.", name);
}

/// What an option takes, and what it goes with.
std::string takes_of(const CLI::Option& option) {
  std::string text;
  if (option.get_type_size() != 0) {
    if (!option.get_type_name().empty()) text = " " + option.get_type_name();
    if (!option.get_default_str().empty()) text += "=" + option.get_default_str();
    if (option.get_expected_max() == CLI::detail::expected_max_vector_size) text += " ...";
    if (option.get_required()) text += " REQUIRED";
  }
  if (!option.get_excludes().empty()) text += " Excludes:";
  for (const CLI::Option* other : option.get_excludes()) text += " " + other->get_name();
  return text;
}

/// An option or a subcommand in the help text.
std::string entry(const std::string& what, const std::string& text) {
  constexpr std::size_t width = 28;  // setup/command_lines.py knows this column
  if (what.size() >= width) return fmt::format("  {}\n  {:{}}{}\n", what, "", width, text);
  return fmt::format("  {:{}}{}\n", what, width, text);
}

/// The text of --help for the program of this name, or for its subcommand that was given. Not
/// CLI11's, whose form changed with its versions: manual pages and completions are made of it.
std::string help_text(const CLI::App& app, const std::string& name) {
  for (const CLI::App* command : app.get_subcommands()) {
    return help_text(*command, name + " " + command->get_name());
  }
  std::string usage, positionals, options, subcommands;
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_positional()) {
      options += entry(names_of(*option) + takes_of(*option), option->get_description());
      continue;
    }
    const std::string word = option->get_name(true);
    const bool several = option->get_expected_max() == CLI::detail::expected_max_vector_size;
    const std::string shown = word + (several ? "..." : "");
    usage += option->get_required() ? " " + shown : " [" + shown + "]";
    positionals += entry(word + takes_of(*option), option->get_description());
  }
  const auto all = [](const CLI::App*) { return true; };
  for (const CLI::App* command : app.get_subcommands(all)) {
    subcommands += entry(command->get_name(), command->get_description());
  }
  if (!subcommands.empty()) {
    usage += app.get_require_subcommand_min() == 0 ? " [SUBCOMMAND]" : " SUBCOMMAND";
  }
  std::string text = fmt::format("{}\nUsage: {} [OPTIONS]{}\n", app.get_description(), name, usage);
  const auto add = [&text](const char* heading, const std::string& entries) {
    if (!entries.empty()) text += fmt::format("\n{}:\n{}", heading, entries);
  };
  add("Positionals", positionals);
  add("Options", options);
  add("Subcommands", subcommands);
  return text + "\n";
}

std::string describe(CountRange range) {
  if (range.max != CountRange{}.max) return fmt::format("{} to {}", range.min, range.max);
  return range.min == 0 ? "COUNT" : fmt::format("COUNT from {}", range.min);
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

std::optional<std::string> parse_command_line(CLI::App& app, int argc, const char* const* argv) {
  app.add_flag("--version")->description("Print the versions of the program and its libraries");
  refuse_values_of_flags(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return help_text(app, app.get_name());
  } catch (const CLI::ExtrasError&) {  // whose own text lists them backwards
    const std::vector<std::string> extra = app.remaining(true);
    throw InputError(fmt::format("'{}' {} not expected; {}", fmt::join(extra, "', '"),
                                 extra.size() == 1 ? "is" : "are", help_of(app)));
  } catch (const CLI::ParseError& error) {
    throw InputError(fmt::format("{}; {}", reason_of(app, error), help_of(app)));
  }
  refuse_empty_values(app);
  return std::nullopt;
}

CLI::Option* add_parsed(
    CLI::App& app, const std::string& names, const std::string& takes,
    const std::string& default_text, const std::string& help,
    std::function<void(const std::string& text, const std::string& what)> parse) {
  const CLI::callback_t callback = [parse = std::move(parse), names](const CLI::results_t& given) {
    if (!given.front().empty()) parse(given.front(), names);  // else refused by the option's name
    return true;
  };
  const auto with_default =
      default_text.empty() ? help : fmt::format("{} (default {})", help, default_text);
  return app.add_option(names, callback, with_default)->type_name(takes);
}

CLI::Option* add_list(CLI::App& app, const std::string& names, std::vector<std::string>& values,
                      const std::string& help) {
  const auto split = [&values, names](const std::vector<std::string>& given) {
    values.clear();
    for (const std::string& text : given) {
      for (const auto part : std::views::split(text, ',')) {
        values.emplace_back(part.begin(), part.end());
        if (!values.back().empty() || text.empty()) continue;  // else refused by the option's name
        throw InputError(
            fmt::format("'{}' of {} has nothing between two commas, or at an end; write the entry, "
                        "or leave the comma out.",
                        text, names));
      }
    }
  };
  return app.add_option_function<std::vector<std::string>>(names, split, help);
}

CLI::Option* add_count(CLI::App& app, const std::string& names, std::uint64_t& value,
                       const std::string& help, CountRange range) {
  return add_parsed(app, names, describe(range), fmt::to_string(value), help,
                    [&value, range](const std::string& text, const std::string& what) {
                      value = parse_count(text, what, range.min, range.max);
                    });
}

CLI::Option* add_count(CLI::App& app, const std::string& names, std::optional<std::uint64_t>& value,
                       const std::string& help, CountRange range) {
  return add_parsed(app, names, describe(range), "", help,
                    [&value, range](const std::string& text, const std::string& what) {
                      value = parse_count(text, what, range.min, range.max);
                    });
}

CLI::Option* add_size(CLI::App& app, const std::string& names, std::uint64_t& value,
                      const std::string& help) {
  return add_parsed(app, names, "SIZE", size_text(value), help,
                    [&value](const std::string& text, const std::string& what) {
                      value = parse_size(text, what);
                    });
}

CLI::Option* add_real(CLI::App& app, const std::string& names, double& value,
                      const std::string& help) {
  return add_parsed(app, names, "NUMBER from 0",
                    std::isfinite(value) ? fmt::to_string(value) : "no limit", help,
                    [&value](const std::string& text, const std::string& what) {
                      value = parse_real(text, what);
                    });
}

CLI::Option* add_triple(CLI::App& app, const std::string& names,
                        std::array<std::uint64_t, 3>& value, const std::string& help,
                        bool has_default) {
  return add_parsed(app, names, "X,Y,Z",
                    !has_default ? "" : fmt::format("{}", fmt::join(value, ",")), help,
                    [&value](const std::string& text, const std::string& what) {
                      value = parse_triple(text, what);
                    });
}

std::map<std::string, std::string> options_given(const CLI::App& app) {
  std::map<std::string, std::string> given;
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() == 0 || option->get_name() == "--help") continue;
    given[option->get_name()] = fmt::format("{}", fmt::join(option->results(), ","));
  }
  return given;
}

}  // namespace slabmark
