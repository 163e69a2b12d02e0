#include "programs/seism-core-slice/input.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <set>
#include <sstream>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.hpp"
#include "core/base/nearest.hpp"
#include "core/base/number.hpp"

namespace slabmark::seism_core_slice {

namespace {

using Words = std::vector<std::string>;
using Apply = std::function<void(CheckpointSettings&, const Words&)>;

struct Keyword {
  std::string name;
  std::size_t values;
  Apply apply;
};

// The attributes of the file hold these numbers as the original did, in 32 bits with a sign.
constexpr std::uint64_t most_in_attribute = std::numeric_limits<std::int32_t>::max();

Keyword triple(const std::string& name, std::array<std::uint64_t, 3> CheckpointGrid::*member) {
  return {name, 3, [=](CheckpointSettings& settings, const Words& words) {
            for (std::size_t d = 0; d < 3; ++d) {
              (settings.grid.*member)[d] = parse_count(words[d], name, 1);
            }
          }};
}

Keyword flag(const std::string& name, bool CheckpointSettings::*member) {
  return {name, 0, [=](CheckpointSettings& settings, const Words&) { settings.*member = true; }};
}

Keyword count(const std::string& name, std::uint64_t CheckpointSettings::*member,
              std::uint64_t largest = most_in_attribute) {
  return {name, 1, [=](CheckpointSettings& settings, const Words& words) {
            settings.*member = parse_count(words[0], name, 0, largest);
          }};
}

Keyword text(const std::string& name, std::string CheckpointSettings::*member) {
  return {name, 1,
          [=](CheckpointSettings& settings, const Words& words) { settings.*member = words[0]; }};
}

const std::vector<Keyword>& keywords() {
  static const std::vector<Keyword> all = {
      triple("processor", &CheckpointGrid::processor),
      triple("chunk", &CheckpointGrid::chunk),
      triple("domain", &CheckpointGrid::domain),
      {"time", 1,
       [](CheckpointSettings& settings, const Words& words) {
         settings.grid.steps = parse_count(words[0], "time", 1, most_in_attribute);
       }},
      text("filename", &CheckpointSettings::filename),
      flag("precreate", &CheckpointSettings::precreate),
      flag("collective_write", &CheckpointSettings::collective_write),
      flag("set_collective_metadata", &CheckpointSettings::set_collective_metadata),
      flag("never_fill", &CheckpointSettings::never_fill),
      flag("early_allocation", &CheckpointSettings::early_allocation),
      count("deflate", &CheckpointSettings::deflate, 9),
      count("zfp", &CheckpointSettings::zfp),
      count("subfile", &CheckpointSettings::subfile),
      count("n_nodes", &CheckpointSettings::n_nodes),
      count("lfs_stripe_count", &CheckpointSettings::lfs_stripe_count),
      {"lfs_stripe_size", 1,
       [](CheckpointSettings& settings, const Words& words) {
         settings.lfs_stripe_size = parse_size(words[0], "lfs_stripe_size");
       }},
      text("use_function_lib", &CheckpointSettings::use_function_lib),
      text("use_function_name", &CheckpointSettings::use_function_name),
      count("use_function_argc", &CheckpointSettings::use_function_argc),
  };
  return all;
}

constexpr const char* end_word = "DONE";
constexpr const char* rest_word = "use_function_argv";  // its values are the rest of the line

const Keyword& find(const std::string& name) {
  for (const Keyword& keyword : keywords()) {
    if (keyword.name == name) return keyword;
  }
  std::vector<std::string> known = {end_word, rest_word};
  for (const Keyword& keyword : keywords()) known.push_back(keyword.name);
  const std::string near = nearest(name, known);
  throw InputError(fmt::format("\"{}\" is no keyword; {}", name,
                               near.empty() ? fmt::format("known are {}.", fmt::join(known, ", "))
                                            : fmt::format("did you mean {}?", near)));
}

Words words_of(std::string_view line) {
  std::istringstream in{std::string(line)};
  Words words;
  for (std::string word; in >> word && word.front() != '#';) words.push_back(word);
  return words;
}

void require_number_of_values(const Keyword& keyword, const Words& words) {
  if (words.size() == keyword.values) return;
  if (keyword.values == 0) {
    throw InputError(
        fmt::format("{} takes no value, but \"{}\" follows; leave the line out to switch it off.",
                    keyword.name, fmt::join(words, " ")));
  }
  throw InputError(fmt::format("{} takes {} value{} on its line, but {} follow{}.", keyword.name,
                               keyword.values, keyword.values == 1 ? "" : "s", words.size(),
                               words.size() == 1 ? "s" : ""));
}

class InputParser {
 public:
  /// Takes the next line; true if it says DONE. Throws InputError that names the line.
  bool take(std::string_view line);

  /// The settings, complete. Throws InputError if there was no DONE, or if a line is missing.
  CheckpointSettings finish() const;

 private:
  void apply(const std::string& keyword, std::string_view rest);

  CheckpointSettings settings_;
  std::set<std::string> seen_;
  std::uint64_t line_ = 0;
  bool done_ = false;
};

}  // namespace

bool InputParser::take(std::string_view line) {
  ++line_;
  if (line.ends_with('\r')) line.remove_suffix(1);
  const auto begin = line.find_first_not_of(" \t");
  if (begin == std::string_view::npos || line[begin] == '#') return false;
  line.remove_prefix(begin);
  const auto end = std::min(line.find_first_of(" \t"), line.size());
  try {
    apply(std::string(line.substr(0, end)), line.substr(end));
  } catch (const InputError& error) {
    throw InputError(fmt::format("Line {} of the input: {}", line_, error.what()));
  }
  return done_;
}

void InputParser::apply(const std::string& keyword, std::string_view rest) {
  if (keyword == end_word) {
    done_ = true;
    return;
  }
  seen_.insert(keyword);
  if (keyword == rest_word) {
    settings_.use_function_argv = rest;
    return;
  }
  const Keyword& found = find(keyword);
  const Words words = words_of(rest);
  require_number_of_values(found, words);
  found.apply(settings_, words);
}

CheckpointSettings InputParser::finish() const {
  if (!done_) {
    throw InputError(
        fmt::format("The input ends after line {} without DONE; end it with that.", line_));
  }
  for (const std::string needed : {"processor", "chunk", "domain", "time"}) {
    // Without chunks a dataset is contiguous, which the original wanted of subfiles.
    if (seen_.count(needed) > 0 || (needed == "chunk" && settings_.subfile > 0)) continue;
    throw InputError(fmt::format("The input has no line with {}, which every run needs.", needed));
  }
  if (!settings_.use_function_lib.empty() && settings_.use_function_name.empty()) {
    throw InputError(
        "use_function_lib is given, but no use_function_name; name its function, or leave the "
        "library out.");
  }
  settings_.function_arguments();  // throws if there are too few
  return settings_;
}

std::string read_until_done(std::istream& in) {
  InputParser parser;
  std::string text;
  for (std::string line; std::getline(in, line);) {
    text += line + "\n";
    if (parser.take(line)) return text;
  }
  parser.finish();
  return text;
}

CheckpointSettings parse_input(const std::string& text) {
  InputParser parser;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) parser.take(line);
  return parser.finish();
}

}  // namespace slabmark::seism_core_slice
