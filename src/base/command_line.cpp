#include "base/command_line.hpp"

#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/number.hpp"

namespace slabmark {

namespace {

/// An empty value is a script's unset variable, and would pass for an option that was not given.
void refuse_empty_values(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& value : option->results()) {
      if (!value.empty()) continue;
      throw InputError(fmt::format("{} is given without a value; give it one, or leave it out.",
                                   option->get_name()));
    }
  }
  for (const CLI::App* command : app.get_subcommands()) refuse_empty_values(*command);
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
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return app.help();
  } catch (const CLI::CallForAllHelp&) {
    return app.help("", CLI::AppFormatMode::All);
  } catch (const CLI::ExtrasError&) {  // whose own text lists them backwards
    const std::vector<std::string> extra = app.remaining(true);
    throw InputError(fmt::format("'{}' {} not expected; '{} --help' lists the options.",
                                 fmt::join(extra, "', '"), extra.size() == 1 ? "is" : "are",
                                 app.get_name()));
  } catch (const CLI::ParseError& error) {
    throw InputError(
        fmt::format("{}; '{} --help' lists the options.", error.what(), app.get_name()));
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
